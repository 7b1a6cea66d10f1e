import type { Tables } from './tables.ts';

/** A lock of a row or a table. Shared ones exclude exclusive ones only. */
export interface Lock {
  readonly name: string;
  readonly isShared?: true;
}

export interface Answered {
  readonly rows: readonly object[];
  /** How many rows were changed or returned. */
  readonly count: number;
}

/** What a statement found and is about to change. */
export interface Effect extends Answered {
  /** Absent when it changes nothing. Called once, when the change becomes visible. */
  readonly apply?: () => void;
}

/** What a statement knows about the database besides its tables. */
interface Surroundings {
  /** The database's clock. */
  readonly now: number;
  /** The session that runs the statement. */
  readonly session: { hasLock: boolean; readonly name: string };
  /** Names of the open sessions. */
  readonly sessions: readonly string[];
  readonly isLockFree: boolean;
}

/** A statement whose text was understood. */
export interface Statement {
  /** Named in traces. */
  readonly kind: string;
  /** Of an append: where the batch goes. */
  readonly table?: string;
  /** Taken in this order, and kept until the change is visible. */
  readonly locks?: readonly Lock[];
  /** Its commit does not wait for the replica. */
  readonly isUnsynced?: true;
  /** It writes, so a read-only database refuses it. */
  readonly isWrite?: true;
  /** It needs room on the disk. */
  readonly needsRoom?: true;
  /** A lock that is not free in time ends the statement. */
  readonly lockMsMax?: number;
  /** Looks at the tables when all locks are held. */
  readonly plan: (tables: Tables, around: Surroundings) => Effect;
}

/** Makes a statement of its text, if it knows it. `text` has single spaces and no schema. */
export type Understand = (text: string, values: readonly unknown[]) => Statement | undefined;

/** The database refuses a statement, with the code that PostgreSQL has for the reason. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function rowsOf(rows: readonly object[]): Effect {
  return { rows, count: rows.length };
}

export const NOTHING: Effect = { rows: [], count: 0 };

export function changed(count: number, apply: () => void, rows: readonly object[] = []): Effect {
  return count === 0 ? NOTHING : { rows, count, apply };
}

/** As the driver passes a text on: one line, without the schema. */
export function plainText(text: string): string {
  return text
    .replaceAll(/"\w+"\./g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
