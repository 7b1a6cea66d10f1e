import {
  changed,
  type Lock,
  NOTHING,
  rowsOf,
  type Statement,
  type Understand,
} from './statement.ts';
import type { Tables } from './tables.ts';

/** As `HOLD_TTL` of the statements. */
export const HOLD_TTL_MS = 5_000;

const HOLD: Lock = { name: 'hold' };

function viewOf({ hold, level }: Tables, now: number): object {
  const { expiresAt, ...rest } = hold;
  return { ...rest, isExpired: expiresAt < now, level, now };
}

const look: Understand = (text) => {
  if (!/^SELECT epoch::float8 AS epoch, .* FROM hold WHERE/.test(text)) return undefined;
  return { kind: 'look', plan: (tables, { now }) => rowsOf([viewOf(tables, now)]) };
};

const renew: Understand = (text, [epoch, runId]) => {
  if (!/ UPDATE hold SET renewals = renewals \+ 1/.test(text)) return undefined;
  return {
    kind: `renew ${epoch}`,
    isWrite: true,
    isUnsynced: true,
    locks: [HOLD],
    plan: (tables, { now }) => {
      const { hold } = tables;
      const isOwn = hold.epoch === epoch && hold.runId === runId;
      const next = { ...hold, renewals: hold.renewals + 1, expiresAt: now + HOLD_TTL_MS };
      const view = viewOf({ ...tables, hold: next }, now);
      return changed(isOwn ? 1 : 0, () => {
        tables.hold = next;
      }, [view]);
    },
  };
};

const release: Understand = (text, [epoch, runId]) => {
  if (!text.startsWith('UPDATE hold SET run_id = NULL')) return undefined;
  return {
    kind: `release ${epoch}`,
    isWrite: true,
    locks: [HOLD],
    plan: (tables) => {
      const { hold } = tables;
      const isOwn = hold.epoch === epoch && hold.runId === runId;
      const expiresAt = Number.NEGATIVE_INFINITY;
      const free = { ...hold, runId: null, address: null, expiresAt };
      return changed(isOwn ? 1 : 0, () => {
        tables.hold = free;
      });
    },
  };
};

const handOff: Understand = (text) => {
  if (!text.startsWith('UPDATE hold SET hand_off = true')) return undefined;
  return {
    kind: 'hand off',
    isWrite: true,
    locks: [HOLD],
    plan: (tables) => {
      const asked = { ...tables.hold, handOff: true };
      return changed(asked.runId === null ? 0 : 1, () => {
        tables.hold = asked;
      });
    },
  };
};

const tryLock: Understand = (text) => {
  if (!text.startsWith('SELECT pg_try_advisory_lock')) return undefined;
  return {
    kind: 'try lock',
    plan: (_, { session, isLockFree }) => {
      const has = session.hasLock || isLockFree;
      session.hasLock = has;
      return rowsOf([{ has }]);
    },
  };
};

const unlock: Understand = (text) => {
  if (text !== 'SELECT pg_advisory_unlock_all()') return undefined;
  return {
    kind: 'unlock',
    plan: (_, { session }) => {
      session.hasLock = false;
      return rowsOf([{}]);
    },
  };
};

const beat: Understand = (text, values) => {
  if (!/^WITH unsynced AS .* INSERT INTO server/.test(text)) return undefined;
  const [runId, address, version, position, generation, level] = values as never[];
  return {
    kind: `beat at ${position}`,
    isWrite: true,
    isUnsynced: true,
    plan: (tables, { now: seenAt }) => {
      const row = { runId, address, version, position, generation, level, seenAt };
      return changed(1, () => tables.servers.set(runId, row));
    },
  };
};

const leave: Understand = (text, [runId]) => {
  if (!text.startsWith('DELETE FROM server WHERE run_id')) return undefined;
  const plan: Statement['plan'] = ({ servers }) =>
    changed(1, () => servers.delete(runId as string));
  return { kind: 'leave', isWrite: true, plan };
};

const servers: Understand = (text) => {
  if (!text.startsWith('SELECT run_id AS "runId", address')) return undefined;
  return {
    kind: 'servers',
    plan: (tables, { now }) =>
      rowsOf(
        [...tables.servers.values()].map(({ seenAt, ...row }) => {
          return { ...row, seenMsAgo: Math.floor(now - seenAt) };
        }),
      ),
  };
};

/** The level that all servers know. */
const raise: Understand = (text) => {
  if (!/UPDATE cluster SET level = greatest/.test(text)) return undefined;
  return {
    kind: 'raise the level',
    isWrite: true,
    plan: (tables) => {
      const known = [...tables.servers.values()].map(({ level }) => level);
      if (known.length === 0) return NOTHING;
      return changed(1, () => {
        tables.level = Math.max(tables.level, Math.min(...known));
      });
    },
  };
};

export const HOLD_SQL: readonly Understand[] = [
  ...[look, renew, release, handOff, tryLock, unlock, beat, leave, servers, raise],
];
