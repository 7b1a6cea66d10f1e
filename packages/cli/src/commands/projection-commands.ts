import { resolve } from 'node:path';
import { defineCommand, defineGroup } from '../command.ts';
import { ExitCode } from '../exit-code.ts';

const rebuild = defineCommand({
  name: 'projection rebuild',
  summary: 'Let the next start rebuild what is kept for search',
  details:
    'For a server that is stopped, when files or rows of its projection were lost, set aside or\n' +
    'are wrong. Its next start reads the log from the beginning and builds every task anew that\n' +
    'was submitted since then; older tasks stay as they are. The server takes tasks meanwhile;\n' +
    'until it has caught up, searches show tasks as they were earlier.',
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
