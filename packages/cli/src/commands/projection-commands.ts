import { resolve } from 'node:path';
import { defineCommand, defineGroup } from '../command.ts';
import { ExitCode } from '../exit-code.ts';

const rebuild = defineCommand({
  name: 'projection rebuild',
  summary: 'Let the next start rebuild what is kept for search',
  details:
    'For a server that is stopped, when files of its projection were lost or set aside. Its\n' +
    'next start reads the log from the beginning and adds every task that is missing and of\n' +
    'which the log still tells. What is there stays. The server takes tasks meanwhile.',
  flags: { data: { value: 'DIR', help: 'the data folder (default ./.sluice)' } },
  examples: ['sluice projection rebuild', 'sluice projection rebuild --data /var/lib/sluice'],
  run: async ({ flags }, io) => {
    // Only here: loading the server takes longer than most commands do.
    const { rebuildProjection } = await import('@sluice/server');
    const data = resolve(flags.data ?? '.sluice');
    try {
      await rebuildProjection(data);
    } catch (cause) {
      io.stderr(`sluice: cannot rebuild the projection of ${data}: ${(cause as Error).message}`);
      return ExitCode.refused;
    }
    io.stdout(`The next start on ${data} reads the log from its beginning.`);
    return ExitCode.done;
  },
});

export const projectionCommands = defineGroup('projection', 'Repair search and history', {
  rebuild,
});
