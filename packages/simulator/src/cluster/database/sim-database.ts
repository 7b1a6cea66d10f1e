import { HOLD_SQL } from './hold-sql.ts';
import { LOG_SQL } from './log-sql.ts';
import { OTHER_SQL } from './other-sql.ts';
import { RowLocks } from './row-locks.ts';
import {
  type Answered,
  type Effect,
  plainText,
  type Statement,
  StatementError,
} from './statement.ts';
import { copyTables, emptyTables, type Tables } from './tables.ts';

/** The database's end of a connection. */
export interface DatabaseSession {
  readonly name: string;
  /** The machine at the other end. */
  readonly host: string;
  /** Whether it has the owner's advisory lock. */
  hasLock: boolean;
  /** The other end is gone, so the session ends with its statement. */
  isLeft: boolean;
  /** Its statement, while there is one. */
  running: Running | undefined;
  /** Called when the database ends the connection. */
  readonly broken: () => void;
}

export interface Running {
  readonly session: DatabaseSession;
  readonly statement: Statement;
  readonly settle: (outcome: Answered | StatementError) => void;
  /** Its locks so far. */
  held: number;
  /** It has committed here, and waits until the replica has it too. */
  waits: Effect | undefined;
}

export interface DatabaseOptions {
  readonly level?: number;
  readonly after: (delayMs: number, run: () => void) => unknown;
  /** Milliseconds since 1970, before the clock was set by anybody. */
  readonly clock: () => number;
  /** How long the next statement takes. */
  readonly statementMs: () => number;
  /** Called when a statement has changed something, with what it was. */
  readonly onCommitted?: (statement: Statement, session: Pick<DatabaseSession, 'host'>) => void;
}

interface Applied {
  readonly statement: Statement;
  readonly session: Pick<DatabaseSession, 'host'>;
}

const UNDERSTOOD = [...LOG_SQL, ...HOLD_SQL, ...OTHER_SQL];

const READ_ONLY = '25006';
const DISK_FULL = '53100';
const LOCK_TIMEOUT = '55P03';

/**
 * A model of the database that servers share. Statements are understood by their text. Each happens
 * at one moment, once it has its locks; a commit that waits for the synchronous replica keeps them,
 * and nobody sees its change before.
 */
export class SimDatabase {
  tables: Tables;
  isDown = false;
  isReadOnly = false;
  isFull = false;
  clockOffsetMs = 0;
  /** What the replica has. Undefined while it has everything. */
  private replica: Tables | undefined;
  private readonly options: DatabaseOptions;
  private readonly locks = new RowLocks();
  private readonly sessions = new Set<DatabaseSession>();

  constructor(options: DatabaseOptions) {
    this.options = options;
    this.tables = emptyTables(options.level ?? 1);
  }

  get now(): number {
    return this.options.clock() + this.clockOffsetMs;
  }

  get isReplicaStuck(): boolean {
    return this.replica !== undefined;
  }

  /** Undefined while nobody can connect. */
  open(session: Pick<DatabaseSession, 'name' | 'host' | 'broken'>): DatabaseSession | undefined {
    if (this.isDown) return undefined;
    const opened = { ...session, hasLock: false, isLeft: false, running: undefined };
    this.sessions.add(opened);
    return opened;
  }

  isOpen(session: DatabaseSession): boolean {
    return this.sessions.has(session);
  }

  /** Carries a statement out, also when nobody waits for its answer any more. */
  query(
    session: DatabaseSession,
    { text, values }: { readonly text: string; readonly values: readonly unknown[] },
    settle: Running['settle'],
  ): void {
    const statement = understood(text, values);
    const running: Running = { session, statement, settle, held: 0, waits: undefined };
    session.running = running;
    this.options.after(this.options.statementMs(), () => this.begin(running));
  }

  /** What a thread asks while its own process waits for the answer. */
  queryAtOnce(host: string, text: string, values: readonly unknown[] = []): Answered {
    if (this.isDown) throw new StatementError('57P01', 'the database is down');
    const session = { name: 'projection', host, hasLock: false };
    const statement = understood(text, values);
    if (statement.isWrite === true) this.refuse();
    const effect = statement.plan(this.tables, this.around(session));
    this.apply({ statement, session }, effect);
    return effect;
  }

  /** The client has closed the connection, or is gone. A statement under way goes on. */
  leave(session: DatabaseSession): void {
    session.isLeft = true;
    if (session.running === undefined) this.sessions.delete(session);
  }

  /** The machine of a client is gone or does not respond. */
  leaveAllOf(host: string): void {
    for (const session of this.of(host)) this.leave(session);
  }

  /** Ends connections, as an administrator or a proxy does. */
  breakAllOf(host: string): void {
    for (const session of this.of(host)) this.end(session);
  }

  /** Ends the sessions that wait for the replica. What they wrote is visible, and only here. */
  terminateWaiting(): number {
    const waiting = [...this.sessions].filter(({ running }) => running?.waits !== undefined);
    for (const session of waiting) this.end(session);
    return waiting.length;
  }

  /** From now on commits wait. */
  stickReplica(): void {
    this.replica ??= copyTables(this.tables);
  }

  freeReplica(): void {
    this.replica = undefined;
    for (const { running } of [...this.sessions]) {
      if (running?.waits !== undefined) this.commit(running, running.waits);
    }
  }

  /** The process of the database starts again. Everything that it had written is there. */
  restart(): void {
    for (const session of [...this.sessions]) this.end(session);
    this.isDown = true;
  }

  /** The primary is lost and the replica takes its place. */
  failOver(): void {
    const { replica } = this;
    if (replica !== undefined) this.tables = replica;
    this.replica = undefined;
    this.dropAll();
  }

  /** Everything after the backup is lost. */
  goBack(backup: Tables): void {
    this.tables = copyTables(backup);
    this.replica = undefined;
    this.dropAll();
  }

  /**
   * Sessions and their locks are gone with the primary. So none of its statements may get a lock
   * that another one loses here: it would change the tables that follow.
   */
  private dropAll(): void {
    this.isDown = true;
    const lost = [...this.sessions];
    for (const session of lost) {
      if (session.running !== undefined) this.locks.release(session.running);
      session.running = undefined;
    }
    for (const session of lost) this.end(session);
  }

  private of(host: string): DatabaseSession[] {
    return [...this.sessions].filter((session) => session.host === host);
  }

  /** A commit that waits for the replica has happened; any other statement has not. */
  private end(session: DatabaseSession): void {
    const { running } = session;
    session.running = undefined;
    this.sessions.delete(session);
    if (running !== undefined) {
      this.apply(running, running.waits);
      this.locks.release(running);
    }
    session.broken();
    this.goOn();
  }

  private begin(running: Running): void {
    const { session, statement } = running;
    if (session.running !== running) return;
    try {
      if (statement.isWrite === true) this.refuse();
    } catch (cause) {
      return this.settle(running, cause as StatementError);
    }
    if (statement.lockMsMax !== undefined) this.boundWait(running, statement.lockMsMax);
    this.tryOn(running);
  }

  private refuse(): void {
    if (this.isReadOnly) throw new StatementError(READ_ONLY, 'the database is read-only');
  }

  private boundWait(running: Running, ms: number): void {
    this.options.after(ms, () => {
      if (!this.locks.isWaiting(running)) return;
      this.locks.release(running);
      this.settle(running, new StatementError(LOCK_TIMEOUT, 'lock timeout'));
    });
  }

  /** Waits while somebody else has one of its locks. */
  private tryOn(running: Running): void {
    if (!this.locks.take(running, running.statement.locks ?? [])) return;
    let effect: Effect;
    try {
      effect = running.statement.plan(this.tables, this.around(running.session));
      const isTooMuch = this.isFull && running.statement.needsRoom && effect.apply !== undefined;
      if (isTooMuch) throw new StatementError(DISK_FULL, 'no space left');
    } catch (cause) {
      if (!(cause instanceof StatementError)) throw cause;
      this.locks.release(running);
      this.settle(running, cause);
      return this.goOn();
    }
    const waits = effect.apply !== undefined && running.statement.isUnsynced !== true;
    if (waits && this.isReplicaStuck) running.waits = effect;
    else this.commit(running, effect);
  }

  private commit(running: Running, effect: Effect): void {
    this.apply(running, effect);
    this.locks.release(running);
    this.settle(running, effect);
    this.goOn();
  }

  private apply({ statement, session }: Applied, effect: Effect | undefined): void {
    if (effect?.apply === undefined) return;
    effect.apply();
    this.options.onCommitted?.(statement, session);
  }

  private settle(running: Running, outcome: Answered | StatementError): void {
    const { session } = running;
    session.running = undefined;
    if (session.isLeft) this.sessions.delete(session);
    running.settle(outcome);
  }

  private goOn(): void {
    for (const waiting of this.locks.released()) {
      if (waiting.session.running === waiting) this.tryOn(waiting);
    }
  }

  private around(session: Pick<DatabaseSession, 'name' | 'hasLock'>) {
    const all = [...this.sessions];
    return {
      session,
      now: this.now,
      sessions: all.map(({ name }) => name),
      isLockFree: all.every(({ hasLock }) => !hasLock),
    };
  }
}

function understood(text: string, values: readonly unknown[]): Statement {
  const plain = plainText(text);
  for (const understand of UNDERSTOOD) {
    const statement = understand(plain, values);
    if (statement !== undefined) return statement;
  }
  throw new Error(`the model of the database does not know the statement: ${plain}`);
}
