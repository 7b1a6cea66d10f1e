import { HOLD_TTL_MS } from './hold-sql.ts';
import {
  changed,
  type Lock,
  NOTHING,
  rowsOf,
  type Statement,
  StatementError,
  type Understand,
} from './statement.ts';
import type { BatchRow, Tables } from './tables.ts';

/*
 * What the statements of the log do, read from their text: a statement that leaves a condition out,
 * or looks where it should write, has here the effect that it has in PostgreSQL.
 */

const UNDEFINED_TABLE = '42P01';

const PARTITION: Lock = { name: 'partition' };
const PARTITION_SHARED: Lock = { name: 'partition', isShared: true };
const HOLD: Lock = { name: 'hold' };

function tableIn(tables: Tables, name: string): readonly BatchRow[] {
  const found = tables.logs.get(name);
  if (found === undefined) throw new StatementError(UNDEFINED_TABLE, `no relation "${name}"`);
  return found;
}

function tailOf(tables: Tables, table: string, segment: number): number {
  const last = tableIn(tables, table).at(-1);
  return last === undefined
    ? (tables.segments.get(segment) ?? Number.NaN)
    : last.first + last.count;
}

/** Whether the partition's row meets the conditions that the text has. */
function isHeld(text: string, { partition }: Tables, epoch: unknown): boolean {
  const segment = /AND segment = (\d+)/.exec(text)?.[1];
  const isEpoch = !text.includes('AND epoch = $1') || partition.epoch === epoch;
  return isEpoch && (segment === undefined || partition.segment === Number(segment));
}

const append: Understand = (text, values) => {
  const [, table] = /^WITH held AS .* INSERT INTO (\w+) SELECT/.exec(text) ?? [];
  if (table === undefined) return undefined;
  const [epoch, first, count, nonce, crc, bytes] = values as [number, ...number[]];
  const isShared = text.includes('FOR SHARE');
  const segment = Number(/number = (\d+)/.exec(text)?.[1]);
  return {
    kind: `append ${first}+${count} epoch ${epoch}`,
    table,
    isWrite: true,
    needsRoom: true,
    locks: [...(isShared ? [PARTITION_SHARED] : []), { name: `${table} ${first}` }],
    plan: (tables) => {
      const rows = tableIn(tables, table);
      if (!isHeld(text, tables, epoch) || tailOf(tables, table, segment) !== first) return NOTHING;
      const stored = Buffer.from(bytes as unknown as Uint8Array);
      const row: BatchRow = { first, count, epoch, nonce, crc, bytes: stored };
      return changed(1, () => {
        tables.names.set(segment, table);
        tables.logs.set(table, [...rows, row]);
      });
    },
  };
};

/** As a `SELECT` it would say the same, but wait for nobody. */
const judge: Understand = (text, [epoch, first, nonce]) => {
  const form = /^(UPDATE|SELECT) .*partition .*WHERE partition = 0 AND epoch.* FROM (\w+)/;
  const [, verb, table] = form.exec(text) ?? [];
  if (verb === undefined || !text.includes('NOT EXISTS')) return undefined;
  const isWrite = verb === 'UPDATE';
  return {
    kind: `judge ${first}`,
    ...(isWrite ? { isWrite, locks: [PARTITION] } : {}),
    plan: (tables) => {
      const rows = tableIn(tables, table);
      const batch = rows.find((row) => row.first === first);
      const isSame = !text.includes('SELECT nonce') || batch?.nonce === nonce;
      const isLast = rows.every((row) => row.first <= (first as number));
      if (!isHeld(text, tables, epoch) || batch === undefined || !isSame || !isLast) return NOTHING;
      return isWrite ? changed(1, () => undefined) : rowsOf([{}]);
    },
  };
};

const roll: Understand = (text, [epoch, first]) => {
  const [, next] = /^WITH rolled AS \( UPDATE partition SET segment = (\d+)/.exec(text) ?? [];
  if (next === undefined) return undefined;
  const [, table] = / FROM (log_\w+)/.exec(text) ?? [];
  return {
    kind: `roll to ${next}`,
    isWrite: true,
    locks: [PARTITION],
    plan: (tables) => {
      const isAtTail = isHeld(text, tables, epoch) && tailOf(tables, table, +next - 1) === first;
      return changed(isAtTail ? 1 : 0, () => {
        tables.partition = { ...tables.partition, segment: Number(next) };
        tables.segments.set(Number(next), first as number);
      });
    },
  };
};

/** Both claims: that of the log, whoever holds it, and that of a server, which compares. */
const claim: Understand = (text, [runId, address, seen, isGone]) => {
  if (!text.startsWith('WITH claimed AS')) return undefined;
  const isOfLog = text.endsWith('p.segment');
  return {
    kind: `claim after ${seen}`,
    isWrite: true,
    locks: [HOLD, PARTITION],
    plan: (tables, { now }) => {
      const { hold, partition } = tables;
      const isExpired = hold.expiresAt < now || isGone === true;
      if (!isOfLog && (hold.epoch !== seen || !isExpired)) return NOTHING;
      const follows = text.includes('greatest(epoch + 1, floor(extract') ? Math.floor(now) : 0;
      const epoch = Math.max(hold.epoch + 1, follows);
      const { first, segment } = partition;
      const row = isOfLog ? { epoch: `${epoch}`, first_record: `${first}`, segment } : { epoch };
      const apply = () => {
        tables.hold = {
          ...{ epoch, runId: String(runId), address: String(address), renewals: 0 },
          ...{ expiresAt: now + HOLD_TTL_MS, handOff: false },
        };
        tables.partition = { ...tables.partition, epoch };
      };
      return changed(1, apply, [row]);
    },
  };
};

const trim: Understand = (text, [epoch, first]) => {
  if (!text.startsWith('UPDATE partition SET first_record = greatest')) return undefined;
  return {
    kind: `trim to ${first}`,
    isWrite: true,
    locks: [PARTITION],
    plan: (tables) =>
      changed(isHeld(text, tables, epoch) ? 1 : 0, () => {
        const { partition } = tables;
        tables.partition = { ...partition, first: Math.max(partition.first, first as number) };
      }),
  };
};

const place: Understand = (text) => {
  if (!text.startsWith('SELECT p.epoch, p.first_record, p.segment, s.number')) return undefined;
  return {
    kind: 'place',
    plan: ({ partition, segments }) => {
      const { epoch, first, segment } = partition;
      const row = { epoch: `${epoch}`, first_record: `${first}`, segment };
      const numbers = [...segments].toSorted(([a], [b]) => a - b);
      return rowsOf(numbers.map(([number, at]) => ({ ...row, number, segment_first: `${at}` })));
    },
  };
};

const tail: Understand = (text) => {
  if (!text.includes('AS tail, pg_table_size')) return undefined;
  const [, table] = / FROM (log_\w+)/.exec(text) ?? [];
  const segment = Number(/number = (\d+)/.exec(text)?.[1]);
  return {
    kind: 'tail',
    plan: (tables) => {
      const bytes = tableIn(tables, table).reduce((sum, row) => sum + row.bytes.length, 1);
      return rowsOf([{ tail: `${tailOf(tables, table, segment)}`, bytes: `${bytes}` }]);
    },
  };
};

const batchOf: Understand = (text, [record]) => {
  const [, table] = /^SELECT max\(first_record\) AS start FROM (\w+)/.exec(text) ?? [];
  if (table === undefined) return undefined;
  return {
    kind: 'batch of',
    plan: (tables) => {
      const found = tableIn(tables, table).findLast(({ first }) => first <= (record as number));
      return rowsOf([{ start: `${found?.first}` }]);
    },
  };
};

/** Rows of a `COPY`, with everything of a batch that a reader checks. */
const read: Understand = (text) => {
  const [, table, from] = /^COPY .* FROM (log_\w+) WHERE first_record <= (\d+)/.exec(text) ?? [];
  if (table === undefined) return undefined;
  return {
    kind: `read from ${from}`,
    plan: (tables) => {
      const rows = tableIn(tables, table);
      const start = rows.findLast(({ first }) => first <= Number(from))?.first;
      return rowsOf(start === undefined ? [] : rows.filter(({ first }) => first >= start));
    },
  };
};

const create: Understand = (text) => {
  const [, table] = /^CREATE TABLE IF NOT EXISTS (log_\w+)/.exec(text) ?? [];
  if (table === undefined) return undefined;
  const plan: Statement['plan'] = (tables) =>
    changed(1, () => tables.logs.set(table, tables.logs.get(table) ?? []));
  return { kind: `create ${table}`, isWrite: true, plan };
};

const DROP_MS_MAX = 100;

const drop: Understand = (text) => {
  const [, table] = /DROP TABLE IF EXISTS (log_\w+)/.exec(text) ?? [];
  if (table === undefined) return undefined;
  const segment = Number(/number = (\d+)/.exec(text)?.[1]);
  return {
    kind: `drop ${table}`,
    isWrite: true,
    lockMsMax: DROP_MS_MAX,
    plan: (tables) =>
      changed(1, () => {
        tables.logs.delete(table);
        tables.segments.delete(segment);
      }),
  };
};

/** Writes and takes it back. */
const probe: Understand = (text) => {
  if (!text.startsWith('BEGIN; INSERT INTO log_')) return undefined;
  const plan = () => changed(1, () => undefined);
  return { kind: 'probe', isWrite: true, isUnsynced: true, needsRoom: true, plan };
};

export const LOG_SQL: readonly Understand[] = [
  ...[append, judge, roll, claim, trim, place, tail, batchOf],
  ...[read, create, drop, probe],
];
