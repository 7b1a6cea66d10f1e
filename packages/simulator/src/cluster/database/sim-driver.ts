import { EventEmitter } from 'node:events';
import { databaseFailure } from '@sluice/postgres/testing/database-failure';
import { copyRows } from './copy-rows.ts';
import type { DatabaseSession, SimDatabase } from './sim-database.ts';
import { type Answered, StatementError } from './statement.ts';
import type { BatchRow } from './tables.ts';

/** How the messages between a machine and the database travel. */
export interface DatabaseWire {
  /** The machine that connects. */
  readonly host: string;
  toDatabase(run: () => void): void;
  /** Never called for a process that is gone. */
  toClient(run: () => void): void;
}

/** What the driver calls while a `COPY` is under way. */
interface Copying {
  submit(connection: { query(text: string): void }): void;
  handleCopyData(message: { readonly chunk: Buffer }): void;
  handleError(cause: unknown): void;
  handleReadyForQuery(): void;
}

interface Pending {
  readonly answered: (answer: Answered) => void;
  readonly failed: (cause: unknown) => void;
}

const CONNECT_MS_MAX = 5_000;

/** The driver's client, on the model of the database. Production code makes sessions of it. */
export class SimDriver extends EventEmitter {
  readonly connection = { stream: { destroy: (cause: Error) => this.cut(cause) } };
  private readonly database: SimDatabase;
  private readonly wire: DatabaseWire;
  private readonly name: string;
  private session: DatabaseSession | undefined;
  private pending: Pending | undefined;
  private isOver = false;

  constructor(database: SimDatabase, wire: DatabaseWire, name: string) {
    super();
    this.database = database;
    this.wire = wire;
    this.name = name;
  }

  connect(): Promise<void> {
    const { wire, database, name } = this;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('timeout expired')), CONNECT_MS_MAX);
      const broken = () => wire.toClient(() => this.lost(new Error('terminated unexpectedly')));
      wire.toDatabase(() => {
        const session = database.open({ name, host: wire.host, broken });
        this.session = session;
        wire.toClient(() => {
          clearTimeout(late);
          if (session === undefined) reject(new Error('connection refused'));
          else resolve();
        });
      });
    });
  }

  query(asked: string | Copying, values: readonly unknown[] = []): Promise<object> | undefined {
    if (typeof asked === 'string') return this.ask(asked, values);
    asked.submit({
      query: (text) => {
        this.ask(text, []).then(
          ({ rows }) => {
            for (const chunk of copyRows(rows as readonly BatchRow[])) {
              asked.handleCopyData({ chunk });
            }
            asked.handleReadyForQuery();
          },
          (cause: unknown) => asked.handleError(cause),
        );
      },
    });
    return undefined;
  }

  /** A statement under way goes on in the database. */
  end(): Promise<void> {
    this.cut(new Error('closed'));
    return Promise.resolve();
  }

  private ask(text: string, values: readonly unknown[]) {
    return new Promise<{ rows: readonly object[]; rowCount: number }>((resolve, reject) => {
      if (this.isOver) return reject(new Error('the connection is closed'));
      this.pending = {
        answered: ({ rows, count }) => resolve({ rows, rowCount: count }),
        failed: reject,
      };
      const { session, database, wire } = this;
      // The driver reads the values when it sends them.
      const sent = values.map((value) => (Buffer.isBuffer(value) ? Buffer.from(value) : value));
      wire.toDatabase(() => {
        if (session === undefined || !database.isOpen(session)) {
          return wire.toClient(() => this.lost(new Error('reset by peer')));
        }
        database.query(session, { text, values: sent }, (outcome) => {
          wire.toClient(() => this.heard(outcome));
        });
      });
    });
  }

  private heard(outcome: Answered | StatementError): void {
    const { pending } = this;
    this.pending = undefined;
    if (outcome instanceof StatementError) {
      pending?.failed(databaseFailure(outcome.code, outcome.message));
    } else {
      pending?.answered(outcome);
    }
  }

  private cut(cause: Error): void {
    const { session, database } = this;
    if (session !== undefined && !this.isOver) {
      this.wire.toDatabase(() => database.leave(session));
    }
    this.lost(cause);
  }

  private lost(cause: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    const { pending } = this;
    this.pending = undefined;
    this.emit('end');
    pending?.failed(cause);
  }
}
