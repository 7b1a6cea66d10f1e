import { once } from 'node:events';
import { defineCommand } from '../command.ts';
import { connect, integerOf } from '../commands/shared.ts';
import { type CommandIo, ExitCode } from '../exit-code.ts';
import { UsageError } from '../usage-error.ts';
import { VERSION } from '../version.ts';
import { cpuOf, megabytesOf, pairsOf } from './amounts.ts';

export const agent = defineCommand({
  name: 'agent',
  summary: 'Run commands of tasks on this machine',
  details:
    'Offers the cores, memory and disk of this machine, less a reserve, and runs the commands\n' +
    'of tasks within the limits that they ask for. Everybody who may submit tasks can then run\n' +
    'programs here, so nothing runs without --allow-commands. An agent that is root runs\n' +
    'commands as nobody, unless --user or --allow-root is given.',
  flags: {
    'allow-commands': { help: 'run commands; without it the agent does not start' },
    program: { value: 'NAME', isMultiple: true, help: 'run only this program; can be repeated' },
    user: { value: 'NAME', help: 'user of commands that state none' },
    'allow-root': { help: 'let commands run as root' },
    name: { value: 'NAME', help: 'name of the worker (default: host and process)' },
    label: { value: 'NAME=VALUE', isMultiple: true, help: 'adds a label; can be repeated' },
    slots: { value: 'N', help: 'maximum number of commands at once (default 100)' },
    'reserve-cpu': { value: 'N', help: 'cores that are not offered (default 0)' },
    'reserve-memory': { value: 'SIZE', help: 'memory that is not offered (default 256m)' },
    'reserve-disk': { value: 'SIZE', help: 'disk space that is not offered (default 1g)' },
    'work-dir': { value: 'DIR', help: 'folder for scratch folders (default below /var/tmp)' },
    url: { value: 'URL', help: 'address of the server (default SLUICE_URL or 127.0.0.1:7420)' },
  },
  examples: [
    'sluice agent --allow-commands',
    'sluice agent --allow-commands --program ffmpeg --program ffprobe --user media',
    'sluice agent --allow-commands --label rack=r7 --reserve-memory 2g',
  ],
  run: async ({ flags }, io) => {
    if (flags['allow-commands'] !== true) {
      throw new UsageError('an agent runs commands of tasks: start it with --allow-commands');
    }
    const slots = integerOf(flags.slots, 'slots');
    const cpu = cpuOf(flags['reserve-cpu'], 'reserve-cpu');
    const memoryMb = megabytesOf(flags['reserve-memory'], 'reserve-memory');
    const diskMb = megabytesOf(flags['reserve-disk'], 'reserve-disk');
    return runAgent(io, {
      ...serverOf(flags.url, io),
      version: VERSION,
      handleSignals: false,
      allowRoot: flags['allow-root'] === true,
      reserve: {
        ...(cpu === undefined ? {} : { cpu }),
        ...(memoryMb === undefined ? {} : { memoryMb }),
        ...(diskMb === undefined ? {} : { diskMb }),
      },
      labels: pairsOf(flags.label, 'label'),
      ...(flags.program === undefined ? {} : { programs: flags.program }),
      ...(flags.user === undefined ? {} : { user: flags.user }),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(slots === undefined ? {} : { slots }),
      ...(flags['work-dir'] === undefined ? {} : { workFolder: flags['work-dir'] }),
    });
  },
});

function serverOf(url: string | undefined, io: CommandIo): { url: string; apiKey?: string } {
  const apiKey = io.env.SLUICE_API_KEY ?? '';
  const address = connect(url === undefined ? {} : { url }, io).url;
  return apiKey === '' ? { url: address } : { url: address, apiKey };
}

type Options = Parameters<typeof import('@sluice/agent').Agent.start>[0];

async function runAgent(io: CommandIo, options: Options): Promise<ExitCode> {
  // Loaded on demand: most commands need no agent.
  const { Agent } = await import('@sluice/agent');
  const started = await Agent.start(options);
  const { cpu, memoryMb, diskMb } = started.offer;
  io.stdout(
    `agent ready: offers ${cpu} cores, ${memoryMb} MiB of memory, ${diskMb} MiB of disk; ` +
      `limits by ${started.groups.kind}; scratch folders in ${started.workFolder}`,
  );
  for (const loss of started.groups.losses) io.stderr(`sluice: ${loss}`);
  if (!io.stop.aborted) await Promise.race([once(io.stop, 'abort'), started.stopped]);
  if (!io.stop.aborted) {
    io.stderr('sluice: the server does not accept this agent any more');
    return ExitCode.refused;
  }
  io.stderr('sluice: stopping when the commands that run have ended; signal again to end now');
  await started.stop();
  return ExitCode.done;
}
