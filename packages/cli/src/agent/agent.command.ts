import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { DURATION, defineCommand } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { VERSION } from '../base/version.ts';
import { connect, durationOf, integerOf } from '../commands/shared.ts';
import { cpuOf, megabytesOf, pairsOf } from './amounts.ts';

export const agent = defineCommand({
  name: 'agent',
  summary: 'Run commands and containers of tasks on this machine',
  details:
    'Offers the cores, memory, disk and GPUs of this machine, less a reserve, and runs the\n' +
    'commands and containers of tasks within the limits that they ask for. Everybody who may\n' +
    'submit tasks can then run programs here, so nothing runs without --allow-commands or\n' +
    '--allow-containers. An agent that is root runs commands as nobody, unless --user or\n' +
    '--allow-root is given. An agent that was killed goes on with what it left running.',
  flags: {
    'allow-commands': { help: 'run commands' },
    'allow-containers': { help: 'run containers, with Docker or Podman' },
    program: { value: 'NAME', isMultiple: true, help: 'run only this program; can be repeated' },
    user: { value: 'NAME', help: 'user of commands that state none' },
    'allow-root': { help: 'let commands run as root' },
    name: { value: 'NAME', help: 'name of the worker (default: host and process)' },
    label: { value: 'NAME=VALUE', isMultiple: true, help: 'adds a label; can be repeated' },
    'engine-socket': { value: 'PATH', help: 'socket of the container engine' },
    network: { value: 'NAME', help: 'network of containers that state none (default bridge)' },
    'allow-mount': { value: 'DIR', isMultiple: true, help: 'let containers mount this folder' },
    'allow-device': { value: 'PATH', isMultiple: true, help: 'let containers use this device' },
    'allow-host-network': { help: 'let containers use the network of the host' },
    'allow-privileged': { help: 'let containers be privileged' },
    'image-max-age': { value: DURATION, help: 'remove unused images after this (default 7d)' },
    gpus: { value: 'LIST', help: 'GPUs to offer, such as 0,1, or none (default all)' },
    'gpu-shares': { value: 'N', help: 'tasks that may use one GPU at once (default 1)' },
    slots: { value: 'N', help: 'maximum number of tasks at once (default 100)' },
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
    'sluice agent --allow-containers --allow-mount /media --network none',
  ],
  run: async ({ flags }, io) => {
    if (flags['allow-commands'] !== true && flags['allow-containers'] !== true) {
      const how = 'start it with --allow-commands, --allow-containers or both';
      throw new UsageError(`an agent runs programs of tasks: ${how}`);
    }
    const gpuShares = integerOf(flags['gpu-shares'], 'gpu-shares');
    const slots = integerOf(flags.slots, 'slots');
    const cpu = cpuOf(flags['reserve-cpu'], 'reserve-cpu');
    const memoryMb = megabytesOf(flags['reserve-memory'], 'reserve-memory');
    const diskMb = megabytesOf(flags['reserve-disk'], 'reserve-disk');
    return runAgent(io, {
      ...serverOf(flags.url, io),
      version: VERSION,
      handleSignals: false,
      allowRoot: flags['allow-root'] === true,
      commands: flags['allow-commands'] === true,
      ...containersOf(flags),
      ...(flags.gpus === undefined ? {} : { gpus: gpusOf(flags.gpus) }),
      ...(gpuShares === undefined ? {} : { gpuShares: Math.max(1, gpuShares) }),
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

interface ContainerFlags {
  readonly 'allow-containers'?: boolean;
  readonly 'engine-socket'?: string;
  readonly network?: string;
  readonly 'allow-mount'?: readonly string[];
  readonly 'allow-device'?: readonly string[];
  readonly 'allow-host-network'?: boolean;
  readonly 'allow-privileged'?: boolean;
  readonly 'image-max-age'?: string;
}

function containersOf(flags: ContainerFlags): Pick<Options, 'containers'> {
  if (flags['allow-containers'] !== true) return {};
  const imageAgeMsMax = durationOf(flags['image-max-age'], 'image-max-age');
  const { 'engine-socket': socket, network } = flags;
  return {
    containers: {
      allowPrivileged: flags['allow-privileged'] === true,
      allowHostNetwork: flags['allow-host-network'] === true,
      mounts: (flags['allow-mount'] ?? []).map((folder) => realFolder(folder)),
      devices: flags['allow-device'] ?? [],
      ...(socket === undefined ? {} : { socket }),
      ...(network === undefined ? {} : { network }),
      ...(imageAgeMsMax === undefined ? {} : { imageAgeMsMax }),
    },
  };
}

/** Links are followed, as they are in the folders that tasks ask for. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    throw new UsageError(`--allow-mount must be a folder of this machine, not '${folder}'`);
  }
}

/** Indexes such as `0,1`. */
function gpusOf(text: string): string[] {
  if (text === 'none') return [];
  if (/^\d+(?:,\d+)*$/.test(text)) return text.split(',');
  throw new UsageError(`--gpus must be indexes such as 0,1, or none, not '${text}'`);
}

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
  const { cpu, memoryMb, diskMb, gpu } = started.offer;
  const gpus = gpu === undefined ? '' : `, ${gpu} GPUs`;
  const engine = started.containers === undefined ? '' : `; ${started.containers.engineText}`;
  io.stdout(
    `agent ready: offers ${cpu} cores, ${memoryMb} MiB of memory, ${diskMb} MiB of disk${gpus}; ` +
      `limits by ${started.groups.kind}${engine}; scratch folders in ${started.workFolder}`,
  );
  if (started.containers?.problem !== undefined) io.stderr(`sluice: ${started.containers.problem}`);
  for (const loss of started.groups.losses) io.stderr(`sluice: ${loss}`);
  if (!io.stop.aborted) await Promise.race([once(io.stop, 'abort'), started.stopped]);
  if (!io.stop.aborted) {
    io.stderr('sluice: the server does not accept this agent any more');
    return ExitCode.refused;
  }
  io.stderr('sluice: stopping when what runs has ended; signal again to end now');
  await started.stop();
  return ExitCode.done;
}
