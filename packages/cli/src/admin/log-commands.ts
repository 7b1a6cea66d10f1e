import { resolve } from 'node:path';
import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { integerOf } from '../commands/shared.ts';

const NO_FOLDER: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR'];

const dump = defineCommand({
  name: 'log dump',
  summary: 'Print the events of a log as JSON lines',
  details:
    'Reads the data folder of a running or stopped server. The log goes back to the older of\n' +
    'two snapshots. Payloads are printed only with --payloads.',
  flags: {
    data: { value: 'DIR', help: 'the data folder (default ./.sluice)' },
    from: { value: 'N', help: 'start with this record' },
    payloads: { help: 'also print inputs, outputs and errors, which may be confidential' },
  },
  examples: ['sluice log dump | tail -n 20', 'sluice log dump --data /var/lib/sluice --from 1000'],
  run: async ({ flags }, io) => {
    const from = integerOf(flags.from, 'from') ?? 0;
    // Loaded on demand: loading the server takes longer than most commands.
    const { dumpLog, EMBEDDED_PARTITION: partition } = await import('@sluice/server');
    const data = resolve(flags.data ?? '.sluice');
    try {
      const withPayloads = flags.payloads === true;
      await dumpLog(data, { partition, from, withPayloads, print: io.stdout });
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const why = NO_FOLDER.includes(code) ? 'there is no log in it; see --data' : message;
      io.stderr(`sluice: cannot read the log of ${data}: ${why}`);
      return ExitCode.refused;
    }
    return ExitCode.done;
  },
});

export const logCommands = defineGroup('log', 'Read the log', { dump });
