import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServerProcess } from '../support/server-process.ts';

const SMALL_SERVER = fileURLToPath(new URL('./small-server.ts', import.meta.url));

export interface SmallServerOptions {
  readonly dataFolder: string;
  readonly snapshotEveryBytes: number;
  readonly finishedTasksMax?: number;
  /** A free one by default. */
  readonly port?: number;
}

export function startSmallServer(options: SmallServerOptions): Promise<ServerProcess> {
  const { dataFolder, snapshotEveryBytes, finishedTasksMax = 1_000_000, port = 0 } = options;
  const numbers = [snapshotEveryBytes, finishedTasksMax, port];
  const args = [SMALL_SERVER, dataFolder, ...numbers.map(String)];
  return ServerProcess.start({ command: process.execPath, args });
}

/** The data folder of a server that runs or ran. */
export class DataFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Paths of the snapshots, oldest first. */
  get snapshots(): string[] {
    return this.filesOf('snapshots', '.snapshot');
  }

  /** Snapshots that were begun and not finished. */
  get unfinished(): string[] {
    return this.filesOf('snapshots', '.unfinished');
  }

  /** The first record in the log. */
  get firstRecord(): number {
    const [oldest = '0'] = this.filesOf('log', '.log');
    return Number(oldest.split('/').at(-1)?.split('-')[0]);
  }

  /** The record up to which the newest snapshot goes; 0 without a snapshot. */
  get newestPosition(): number {
    return Number.parseInt(this.snapshots.at(-1)?.split('/').at(-1) ?? '0', 10);
  }

  /** Disk space of the log and of the snapshots. */
  get usedBytes(): { readonly log: number; readonly snapshots: number } {
    return { log: this.bytesOf('log'), snapshots: this.bytesOf('snapshots') };
  }

  private filesOf(folder: string, ending: string): string[] {
    const names = readdirSync(join(this.path, folder)).filter((name) => name.endsWith(ending));
    return names.sort().map((name) => join(this.path, folder, name));
  }

  /** Files may appear and disappear meanwhile. */
  private bytesOf(folder: string): number {
    const sizes = readdirSync(join(this.path, folder)).map((name) => {
      const stats = statSync(join(this.path, folder, name), { throwIfNoEntry: false });
      return (stats?.blocks ?? 0) * 512;
    });
    return sizes.reduce((sum, size) => sum + size, 0);
  }
}
