import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BlobRows,
  FOLD_MODULE,
  LineRows,
  Notes,
  PostgresLog,
  PostgresSnapshots,
  parseStoreAddress,
  type StoreAddress,
  StoreAddressError,
} from '@sluice/postgres';
import type { Note } from '../base/note-file.ts';
import { ConfigError } from '../config/load-config.ts';
import { TaskLogRows } from '../logs/task-log-rows.ts';
import type { TaskLines } from '../logs/task-logs.ts';
import type { ServerOptions } from './server-options.ts';
import type { ServerStore, StoreLog, StoreSnapshots } from './server-store.ts';

export interface PostgresStoreOptions {
  readonly address: StoreAddress;
  /** For files that nobody needs after the process. */
  readonly scratchFolder: string;
  /** The epoch that this process has claimed. */
  readonly epoch?: number;
  readonly segmentBytes?: number | undefined;
}

/** Everything in a PostgreSQL database. Only servers on one load this module. */
export class PostgresStore implements ServerStore {
  readonly engine = 'postgres';
  readonly folder: string;
  readonly keyHint = '--store …';
  readonly rows: ServerStore['rows'];
  readonly blobShelf: BlobRows;
  private readonly options: PostgresStoreOptions;
  private readonly notes: Notes;

  private constructor(options: PostgresStoreOptions) {
    const { address, scratchFolder } = options;
    this.options = options;
    this.folder = scratchFolder;
    this.rows = { folder: join(scratchFolder, 'projection'), store: address };
    this.blobShelf = new BlobRows({ address, scratchFolder: join(scratchFolder, 'uploads') });
    this.notes = new Notes(address);
  }

  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    await rm(options.scratchFolder, { recursive: true, force: true });
    await mkdir(options.scratchFolder, { recursive: true, mode: 0o700 });
    return new PostgresStore(options);
  }

  async openLog(): Promise<StoreLog> {
    const { address, epoch, segmentBytes } = this.options;
    const log = await PostgresLog.open({
      address,
      ...(epoch === undefined ? {} : { epoch }),
      ...(segmentBytes === undefined ? {} : { segmentBytes }),
    });
    return { log };
  }

  async openSnapshots(): Promise<StoreSnapshots> {
    const { address } = this.options;
    const at = (name: string) => ({ address, scratchFolder: join(this.folder, name) });
    const store = await PostgresSnapshots.open(at('snapshots'));
    const source = { module: FOLD_MODULE, options: at('folds') };
    return { store, source, close: () => store.close() };
  }

  /** The scratch folder is new. */
  async tidy(): Promise<void> {}

  openTaskLogs(ageMs: number): Promise<TaskLines> {
    return TaskLogRows.open({ rows: new LineRows({ address: this.options.address }), ageMs });
  }

  note(name: string): Note {
    return {
      read: () => this.notes.read(name),
      write: (text) => this.notes.write(name, text),
    };
  }

  async close(): Promise<void> {
    await this.notes.close();
    await this.blobShelf.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Where the store of a server is. A wrong address is a mistake in the configuration. */
export function storeAddressOf({ store = '' }: Pick<ServerOptions, 'store'>): StoreAddress {
  try {
    return parseStoreAddress(store);
  } catch (cause) {
    if (cause instanceof StoreAddressError) throw new ConfigError([`store: ${cause.message}`]);
    throw cause;
  }
}
