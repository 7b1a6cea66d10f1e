import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { MoveResult, StoreMoveOrder } from '@sluice/server/cluster';
import { defineCommand } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { print } from '../commands/shared.ts';
import { ProgressLine, sizeText } from '../screen/progress-line.ts';
import { addressOfStore, STORE_FLAGS, type StoreFlags } from './store-flags.ts';

export const importData = defineCommand({
  name: 'import',
  summary: 'Copy the data folder of a stopped server into a PostgreSQL database',
  details:
    "The store must be new and empty: make it with 'sluice cluster init'. Everything is copied\n" +
    'and compared, and the folder stays as it is. Until the end no server starts on the store.\n' +
    'After a failure run the same command again: it starts over.',
  flags: {
    from: { value: 'DIR', help: 'the data folder (default ./.sluice)' },
    ...STORE_FLAGS,
    json: { help: 'print the answer as JSON' },
  },
  examples: [
    'SLUICE_STORE=postgres://sluice:secret@db/work sluice import --from /var/lib/sluice',
    'sluice import --from .sluice --store postgres://sluice@db/work?schema=team',
  ],
  run: async ({ flags }, io) => {
    const dataFolder = resolve(flags.from ?? '.sluice');
    const moved = await move({ dataFolder, flags, io, what: 'import' });
    if (moved === undefined) return ExitCode.refused;
    print(io, flags, { dataFolder, ...moved }, (each) => {
      return `imported ${dataFolder}: ${countsText(each)}\nstart servers with --store`;
    });
    return ExitCode.done;
  },
});

export const exportData = defineCommand({
  name: 'export',
  summary: 'Copy the data of stopped servers on PostgreSQL into a data folder',
  details:
    'The folder must be empty or must not exist. Everything is copied and compared, and the\n' +
    'store stays as it is. Then start a server on the folder, and no more on the store.',
  flags: {
    to: { value: 'DIR', help: 'the new data folder' },
    ...STORE_FLAGS,
    json: { help: 'print the answer as JSON' },
  },
  examples: ['sluice export --to /var/lib/sluice --store postgres://sluice@db/work'],
  run: async ({ flags }, io) => {
    if (flags.to === undefined) throw new UsageError("'sluice export' needs --to DIR");
    const dataFolder = resolve(flags.to);
    const moved = await move({ dataFolder, flags, io, what: 'export' });
    if (moved === undefined) return ExitCode.refused;
    print(io, flags, { dataFolder, ...moved }, (each) => {
      return `exported to ${dataFolder}: ${countsText(each)}\nstart a server with --data`;
    });
    return ExitCode.done;
  },
});

interface Move {
  readonly what: 'import' | 'export';
  readonly dataFolder: string;
  readonly flags: StoreFlags;
  readonly io: CommandIo;
}

/** Undefined when it was refused or failed, and said so. */
async function move({ what, dataFolder, flags, io }: Move): Promise<MoveResult | undefined> {
  const text = addressOfStore(flags, io);
  // Loaded on demand: loading the server takes longer than most commands.
  const { loadConfig } = await import('@sluice/server');
  const cluster = await import('@sluice/server/cluster');
  const { limits, quotas } = loadConfig({ flags: {}, env: io.env }).config;
  const progress = new ProgressLine(io.terminal);
  const scratchFolder = await mkdtemp(join(tmpdir(), 'sluice-move-'));
  try {
    const order: StoreMoveOrder = {
      address: cluster.parseStoreAddress(text),
      ...{ dataFolder, limits, quotas, scratchFolder },
      onProgress: (part, moved) => progress.show(`${part}: ${countsText(moved)}`),
      onLeftOut: (task, why) => {
        progress.clear();
        io.stderr(`sluice: the row of task ${task} cannot be read and is left out: ${why}`);
      },
    };
    return await (what === 'import' ? cluster.importFolder(order) : cluster.exportStore(order));
  } catch (cause) {
    progress.clear();
    if (cause instanceof cluster.StoreAddressError) {
      throw new UsageError(cause.message, { cause });
    }
    io.stderr(`sluice: cannot ${what}: ${(cause as Error).message}`);
    return undefined;
  } finally {
    progress.clear();
    await rm(scratchFolder, { recursive: true, force: true });
  }
}

function countsText({ records, rows, blobs, lines, bytes }: Omit<MoveResult, 'tasks'>): string {
  return (
    `${records} records, ${rows} rows, ${blobs} blobs, ${lines} lines of tasks, ` +
    `${sizeText(bytes)}`
  );
}
