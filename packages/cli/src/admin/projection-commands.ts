import { resolve } from 'node:path';
import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';

const rebuild = defineCommand({
  name: 'projection rebuild',
  summary: 'Rebuild search and history at the next start',
  details:
    'Use it on a stopped server when files or rows of its projection are lost, set aside or\n' +
    'wrong. The next start reads the log from its beginning and rebuilds every task that was\n' +
    'submitted since then. Older tasks stay as they are. The server accepts tasks during the\n' +
    'rebuild; until it has caught up, searches show an earlier state.',
  flags: { data: { value: 'DIR', help: 'the data folder (default ./.sluice)' } },
  examples: ['sluice projection rebuild', 'sluice projection rebuild --data /var/lib/sluice'],
  run: async ({ flags }, io) => {
    // Loaded on demand: loading the server takes longer than most commands.
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
