import { resolve } from 'node:path';
import type { restoreBackup } from '@sluice/server';
import { defineCommand } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { VERSION } from '../base/version.ts';
import { print } from '../commands/shared.ts';
import { ProgressLine, sizeText } from '../screen/progress-line.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Create a data folder from a backup',
  details:
    'Checks the whole backup first. The data folder must be empty or must not exist. Then start\n' +
    'a server on it. Leases from before the restore are void, so tasks that a worker held run\n' +
    'again. Keys that were revoked after the backup work again: revoke them once more.',
  args: ['DIR'],
  flags: {
    data: { value: 'DIR', help: 'the data folder (default ./.sluice)' },
    json: { help: 'print the answer as JSON' },
  },
  examples: ['sluice restore backups/monday', 'sluice restore monday --data /var/lib/sluice'],
  run: async ({ args: [folder], flags }, io) => {
    const dataFolder = resolve(flags.data ?? '.sluice');
    const restored = await restoreInto(resolve(folder), dataFolder, io);
    if (restored === undefined) return ExitCode.refused;
    print(io, flags, { dataFolder, ...restored }, (each) => {
      const size = `${each.files} files, ${sizeText(each.bytes)}`;
      return (
        `${dataFolder}: ${size}, up to ${each.upTo}, ${each.tasks} tasks in memory\n` +
        `${each.returned} of them were held by a worker and run again; start a server with --data`
      );
    });
    return ExitCode.done;
  },
});

async function restoreInto(
  folder: string,
  dataFolder: string,
  io: CommandIo,
): Promise<Awaited<ReturnType<typeof restoreBackup>> | undefined> {
  // Loaded on demand: loading the server takes longer than most commands.
  const server = await import('@sluice/server');
  const { limits, quotas } = server.loadConfig({ flags: {}, env: io.env }).config;
  const progress = new ProgressLine(io.terminal);
  const bytes = { checked: 0, copied: 0 };
  try {
    return await server.restoreBackup({
      folder,
      dataFolder,
      partition: server.EMBEDDED_PARTITION,
      limits,
      quotas,
      version: VERSION,
      onProgress: (what, more) => {
        bytes[what] += more;
        progress.show(`${what} ${sizeText(bytes[what])}`);
      },
    });
  } catch (cause) {
    progress.clear();
    io.stderr(`sluice: cannot restore ${folder}: ${(cause as Error).message}`);
    return undefined;
  } finally {
    progress.clear();
  }
}
