import { randomUUID } from 'node:crypto';
import { type Task, TERMINAL } from '../api/answers.ts';
import { ApiCaller } from '../api/api-caller.ts';
import { DURATION, defineCommand } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { followTask } from '../commands/follow-task.ts';
import {
  connect,
  durationOf,
  integerOf,
  SERVER_FLAGS,
  stated,
  tagsOf,
} from '../commands/shared.ts';
import { errorText } from '../commands/task-text.ts';
import { visible } from '../screen/visible.ts';
import { cpuOf, megabytesOf, pairsOf } from './amounts.ts';
import { elementsOf } from './array-elements.ts';
import { type ArrayCall, execArray } from './exec-array.ts';

const KEY_WINDOW_MS = 600_000;
/** How long a cancelled command may take to end. */
const CANCEL_MS_MAX = 15_000;
/** How long a command waits before the user hears why. */
const PATIENCE_MS = 2000;
const INTERRUPTED = 130;

export const exec = defineCommand({
  name: 'exec',
  summary: 'Run a command on a machine that has room for it',
  details:
    'Submits the command, prints its output as it comes, and exits with its exit code. What is\n' +
    'piped into it becomes its standard input. Ctrl-C cancels the command; on a terminal it\n' +
    'asks first, so press it twice. With --array the command runs once for each element. The\n' +
    'output of each is printed when it ends, and those that failed are listed.',
  args: ['[COMMAND...]'],
  flags: {
    image: { value: 'IMAGE', help: 'run a container of this image; the command is optional' },
    pull: { value: 'WHEN', help: 'always, ifNotPresent (default) or never' },
    network: { value: 'NAME', help: 'network of the container, such as none' },
    volume: {
      value: 'SOURCE:TARGET[:ro]',
      isMultiple: true,
      help: 'mounts a folder of the host, or a volume, into the container',
    },
    cpu: { value: 'N', help: 'cores that it may use, such as 2 or 0.5' },
    memory: { value: 'SIZE', help: 'memory that it may use, such as 512m or 4g' },
    disk: { value: 'SIZE', help: 'size of its scratch folder' },
    env: { value: 'NAME=VALUE', short: 'e', isMultiple: true, help: 'adds a variable' },
    label: { value: 'NAME=VALUE', isMultiple: true, help: 'run only where this label is' },
    priority: { value: 'N', short: 'p', help: '0 to 8; 8 runs first (default 4)' },
    timeout: { value: DURATION, help: 'maximum time of an attempt' },
    'max-attempts': { value: 'N', help: 'maximum number of attempts (default 1)' },
    tag: { value: 'NAME=VALUE', isMultiple: true, help: 'adds a tag; can be repeated' },
    array: {
      value: 'ELEMENTS',
      help: 'run it for each of 1-100, 1-9:2, a,b or the lines of @FILE, as {}',
    },
    detach: { short: 'd', help: 'print the id of the task and do not wait' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice exec -- uname -a',
    'sluice exec --cpu 2 --memory 1g --timeout 10m -- ffmpeg -i /media/in.mp4 /media/out.webm',
    'cat words.txt | sluice exec -- sort -u',
    `sluice exec --detach -- sh -c 'sleep 60; echo done'`,
    'sluice exec --image alpine:3.20 --memory 100m -- cat /etc/os-release',
    'sluice exec --array 1-100 --cpu 1 -- ./render --frame {}',
  ],
  run: async ({ args, flags }, io) => {
    const api = connect(flags, io);
    const body = stated({
      exec: stated({
        ...programOf(args, flags),
        env: flags.env === undefined ? undefined : pairsOf(flags.env, 'env'),
        stdin: await pipedInto(io),
      }),
      resources: resourcesOf(flags),
      constraints: constraintsOf(flags.label),
      priority: integerOf(flags.priority, 'priority'),
      timeouts: timeoutsOf(flags.timeout),
      retry: { maxAttempts: integerOf(flags['max-attempts'], 'max-attempts') ?? 1 },
      tags: tagsOf(flags.tag),
      dedupeKey: `cli.${randomUUID()}`,
      dedupeWindowMs: KEY_WINDOW_MS,
    }) as ArrayCall['body'];
    const isJson = flags.json === true;
    if (flags.array !== undefined) {
      const elements = await elementsOf(flags.array);
      const isDetached = flags.detach === true;
      return execArray({ api, io, url: flags.url, elements, body, isDetached, isJson });
    }
    const { id } = await api.post<{ id: string; state: string }>(
      '/v1/tasks',
      ['id', 'state'],
      body,
    );
    if (flags.detach === true) {
      io.stdout(isJson ? JSON.stringify({ id }) : id);
      return ExitCode.done;
    }
    return untilEnd({ api, id, io, isJson, url: flags.url });
  },
});

/** What to run: a command, or a container. */
function programOf(args: readonly string[], flags: ContainerFlags): object {
  const { image, pull, network, volume } = flags;
  if (image !== undefined) {
    const given = args.length === 0 ? undefined : args;
    return stated({ image, args: given, pull, network, volumes: volume?.map(volumeOf) });
  }
  if (args.length === 0) throw new UsageError(`'sluice exec' needs COMMAND or --image`);
  const odd = Object.entries({ pull, network, volume }).find(([, value]) => value !== undefined);
  if (odd !== undefined) throw new UsageError(`--${odd[0]} is for containers: add --image`);
  return { command: args };
}

interface ContainerFlags {
  readonly image?: string;
  readonly pull?: string;
  readonly network?: string;
  readonly volume?: readonly string[];
}

function volumeOf(text: string): object {
  const [source = '', target = '', mode] = text.split(':');
  if (target === '' || ![undefined, 'ro', 'rw'].includes(mode)) {
    throw new UsageError(`--volume must be SOURCE:TARGET or SOURCE:TARGET:ro, not '${text}'`);
  }
  return { source, target, readOnly: mode === 'ro' };
}

interface Followed {
  readonly api: ApiCaller;
  readonly id: string;
  readonly io: CommandIo;
  readonly isJson: boolean;
  readonly url: string | undefined;
}

/** Shows the output of the command until it has ended. */
async function untilEnd({ api, id, io, isJson, url }: Followed): Promise<number> {
  io.askFirst(`press Ctrl-C again to cancel ${id}; until then it goes on`);
  const waiting = setTimeout(() => void sayWhyItWaits(api, id, io), PATIENCE_MS);
  try {
    // The stream has its own end; it may break while the server restarts.
    const shown = isJson ? undefined : showOutput(api, id, io, () => clearTimeout(waiting));
    const quiet = { ...io, terminal: { ...io.terminal, isStderr: false } };
    const task = await followTask(api, id, { io: quiet });
    await Promise.race([shown, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())]);
    if (isJson) io.stdout(JSON.stringify(task, null, 2));
    return exitCodeOf(task, io);
  } catch (cause) {
    if (!io.stop.aborted) throw cause;
    return cancelled(id, io, url);
  } finally {
    clearTimeout(waiting);
  }
}

async function showOutput(
  api: ApiCaller,
  id: string,
  io: CommandIo,
  onLines: () => void,
): Promise<void> {
  const path = `/v1/tasks/${encodeURIComponent(id)}/logs?follow=true`;
  await api
    .follow(path, (name, data) => {
      if (name !== 'lines') return;
      onLines();
      for (const { line } of data as { line: string }[]) io.stdout(visible(line));
    })
    .catch(() => undefined);
}

interface Reasons {
  readonly reasons: readonly { readonly message: string }[];
}

async function sayWhyItWaits(api: ApiCaller, id: string, io: CommandIo): Promise<void> {
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const task = await api.get<Task>(path, ['id', 'state']).catch(() => undefined);
  if (task === undefined || TERMINAL.includes(task.state)) return;
  const worker = task.attempts.at(-1)?.worker;
  if (task.state === 'running' || task.state === 'leased') {
    io.stderr(`${id} runs on ${worker ?? 'a worker'}`);
    return;
  }
  const told = await api.get<Reasons>(`${path}/explain`, ['reasons']).catch(() => undefined);
  for (const { message } of told?.reasons ?? []) io.stderr(`${id} waits: ${message}`);
}

/** The user does not want it any more: the command is asked to end, and the end is shown. */
async function cancelled(id: string, io: CommandIo, url: string | undefined): Promise<number> {
  // The calls of the command line itself end with the first signal.
  const api = new ApiCaller({ url, env: io.env, signal: AbortSignal.timeout(CANCEL_MS_MAX) });
  io.stderr(`cancelling ${id}; signal again to leave it`);
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  try {
    await api.post<Task>(`${path}/cancel`, ['id', 'state'], {});
    const task = await followTask(api, id, { io, timeoutMs: CANCEL_MS_MAX });
    io.stderr(`the command is ${task.state}`);
  } catch (cause) {
    io.stderr(`sluice: cannot cancel it: ${(cause as Error).message}`);
  }
  return INTERRUPTED;
}

function exitCodeOf({ state, error }: Task, io: CommandIo): number {
  if (state === 'succeeded') return ExitCode.done;
  const [, code] = /^exit_(\d+)$/.exec(error?.code ?? '') ?? [];
  if (state === 'failed' && code !== undefined) return Number(code);
  io.stderr(`sluice: the command ${state}${error === null ? '' : `: ${errorText(error)}`}`);
  if (error?.code === 'command_not_found') return 127;
  return error?.code === 'command_not_run' ? 126 : ExitCode.refused;
}

async function pipedInto(io: CommandIo): Promise<string | undefined> {
  if (!io.isPiped) return undefined;
  const bytes = await io.readStdin();
  return bytes.length === 0 ? undefined : bytes.toString();
}

function resourcesOf(flags: {
  readonly cpu?: string;
  readonly memory?: string;
  readonly disk?: string;
}): object | undefined {
  const resources = stated({
    cpu: cpuOf(flags.cpu, 'cpu'),
    memoryMb: megabytesOf(flags.memory, 'memory'),
    diskMb: megabytesOf(flags.disk, 'disk'),
  });
  return Object.keys(resources).length === 0 ? undefined : resources;
}

function constraintsOf(labels: readonly string[] | undefined): string[] | undefined {
  if (labels === undefined) return undefined;
  return Object.entries(pairsOf(labels, 'label')).map(([name, value]) => `${name} == ${value}`);
}

function timeoutsOf(text: string | undefined): object | undefined {
  const runMs = durationOf(text, 'timeout');
  if (runMs === 0) throw new UsageError('--timeout must be greater than 0');
  return runMs === undefined ? undefined : { runMs };
}
