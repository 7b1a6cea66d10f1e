import { randomUUID } from 'node:crypto';
import { HoldStore, type HoldView, type ServerView } from '../hold/hold-store.ts';
import { readPlace } from '../log/log-place.ts';
import { LogStatements } from '../log/log-statements.ts';
import { type Halt, readHalts } from '../notes/halt-notes.ts';
import { checkSchema, FIRST_PARTITION, initStore } from '../schema/store-schema.ts';
import {
  checkSettings,
  readDurability,
  type StoreDurability,
  settingsProblems,
} from '../schema/store-settings.ts';
import { TableNames } from '../schema/table-names.ts';
import { unfinishedImport } from '../schema/unfinished-import.ts';
import { Session } from '../session/session.ts';
import type { StoreAddress } from '../session/store-address.ts';

export interface ServerStatus extends ServerView {
  /** Why it has halted: the database went back in time. */
  readonly halted?: string;
}

/** What an operator wants to know about a store and its servers. */
export interface StoreStatus {
  readonly hold: HoldView;
  readonly servers: readonly ServerStatus[];
  /** Records that the log has had. */
  readonly tail: number;
  readonly bytes: number;
  readonly durability: StoreDurability;
  /** The folder whose import is running or has failed. */
  readonly unfinishedImport?: string;
  /** What would lose acknowledged work, or has. Empty when all is well. */
  readonly problems: readonly string[];
}

/** Makes the tables, for servers of this level. False when they are there already. */
export async function initStoreAt(address: StoreAddress, level: number): Promise<boolean> {
  return withSession(address, async (session) => {
    await checkSettings(session, address);
    return initStore(session, address, level);
  });
}

/** Rejects unless there is a store of a known form that keeps what Sluice promises. */
export async function checkStoreAt(address: StoreAddress): Promise<void> {
  await withSession(address, async (session) => {
    await checkSettings(session, address);
    await checkSchema(session, address);
  });
}

export async function storeStatus(address: StoreAddress): Promise<StoreStatus> {
  return withSession(address, async (session) => {
    await checkSchema(session, address);
    const names = new TableNames(address.schema);
    const { tail } = await readPlace(session, new LogStatements(names, FIRST_PARTITION));
    const { rows } = await session.query<{ bytes: number }>(
      `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind = 'r'`,
      [address.schema],
    );
    const durability = await readDurability(session);
    const from = await unfinishedImport(session, address);
    const importing = from === undefined ? {} : { unfinishedImport: from };
    const { hold, servers: seen } = await holders(address);
    const servers = withHalts(seen, await readHalts(session, address));
    const problems = [...(await settingsProblems(session)), ...servers.flatMap(haltProblem)];
    return { hold, servers, tail, bytes: rows[0].bytes, durability, ...importing, problems };
  });
}

function withHalts(servers: readonly ServerView[], halts: readonly Halt[]): ServerStatus[] {
  return servers.map((server) => {
    const isOf = (halt: Halt) =>
      halt.runId === server.runId && halt.generation === server.generation;
    const cause = halts.find(isOf)?.cause;
    return cause === undefined ? server : { ...server, halted: cause };
  });
}

function haltProblem({ address, halted }: ServerStatus): string[] {
  if (halted === undefined) return [];
  return [
    `${address} has halted, because the database went back in time and acknowledged work is ` +
      `missing: ${halted}. Restore what is missing, or run 'sluice cluster accept-loss'`,
  ];
}

/** What a crash of the database, or a failover, can take, as far as the database knows. */
export function storeDurability(address: StoreAddress): Promise<StoreDurability> {
  return withSession(address, readDurability);
}

export interface RaisedLevel {
  readonly before: number;
  readonly now: number;
  /** All servers that were seen lately. */
  readonly servers: readonly ServerView[];
}

/**
 * Raises the level of the store to the newest one that all its servers know.
 *
 * A server that starts meanwhile says so first and looks at the level afterwards. It is either
 * counted here, or finds the new level and ends.
 */
export async function raiseLevel(address: StoreAddress): Promise<RaisedLevel> {
  const names = new TableNames(address.schema);
  return withSession(address, async (session) => {
    await checkSchema(session, address);
    const { hold } = await holders(address);
    await session.queryAll([
      `LOCK TABLE ${names.table('server')} IN SHARE ROW EXCLUSIVE MODE`,
      `UPDATE ${names.table('cluster')} SET
        level = greatest(level, (SELECT min(level) FROM ${names.table('server')}))`,
    ]);
    const raised = await holders(address);
    return { before: hold.level, now: raised.hold.level, servers: raised.servers };
  });
}

/** The projection has seen no more than the log has. */
export async function limitMark(address: StoreAddress): Promise<void> {
  const { tail } = await storeStatus(address);
  const mark = new TableNames(address.schema).table('mark');
  await withSession(address, (session) =>
    session.query(`UPDATE ${mark} SET position = least(position, $1)`, [tail]),
  );
}

/** Asks the owner to hand the partition over. False when there is none. */
export async function askHandOff(address: StoreAddress): Promise<boolean> {
  const store = new HoldStore(address, randomUUID());
  try {
    return await store.askHandOff();
  } finally {
    await store.close();
  }
}

async function holders(address: StoreAddress): Promise<Pick<StoreStatus, 'hold' | 'servers'>> {
  const store = new HoldStore(address, randomUUID());
  try {
    return { hold: await store.look(), servers: await store.servers() };
  } finally {
    await store.close();
  }
}

async function withSession<T>(
  address: StoreAddress,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await Session.open(address, 'sluice cluster');
  try {
    return await use(session);
  } finally {
    await session.end();
  }
}
