/** The flags of `sluice schedule put` as a schedule, and what is wrong with them. */
import { suggest } from '@sluice/protocol/suggestion';
import { cpuOf, megabytesOf } from '../agent/amounts.ts';
import { RefusedError } from '../api/api-errors.ts';
import { DURATION } from '../base/command.ts';
import type { CommandIo } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { durationOf, integerOf, jsonOf, stated, tagsOf } from '../commands/shared.ts';

export const SCHEDULE_FLAGS = {
  cron: { value: 'PATTERN', help: "times of a cron pattern, such as '0 3 * * *' or @daily" },
  'time-zone': { value: 'ZONE', help: 'with --cron: such as Europe/Berlin (default UTC)' },
  every: { value: DURATION, help: 'a fixed period' },
  'fixed-delay': { help: 'with --every: count from the end of what the last fire made' },
  'start-at': { value: 'TIME', help: 'with --every: first time (default: one period from now)' },
  'allow-fast': { help: 'with --every: allow periods below 100ms' },
  at: { value: 'TIME', help: 'once, at this time (ISO 8601 with Z or an offset)' },
  permanent: { help: 'at no times: it always runs, and is started again when it ends' },
  replicas: { value: 'N', help: 'with --permanent: this many run (default 1)' },
  type: { value: 'TYPE', help: 'submit a task of this type' },
  workflow: { value: 'NAME', help: 'or start a run of this workflow' },
  version: { value: 'N', help: 'with --workflow: this version (default: the newest each time)' },
  cpu: { value: 'N', help: 'with a command: cores that it may use, such as 2 or 0.5' },
  memory: { value: 'SIZE', help: 'with a command: memory that it may use, such as 512m or 4g' },
  input: { value: 'JSON', short: 'i', help: 'input; @FILE reads a file, - reads stdin' },
  priority: { value: 'N', short: 'p', help: '0 to 8; 8 runs first (default 4)' },
  misfire: { value: 'HOW', help: 'times that were missed: once (default), skip or all' },
  'misfire-max': { value: 'N', help: 'with --misfire all: at most this many (default 100)' },
  overlap: {
    value: 'HOW',
    help: 'the last one still runs: allow (default), skip, queue, cancelPrevious',
  },
  jitter: { value: DURATION, help: 'delay each fire by a random time up to this' },
  from: { value: 'TIME', help: 'fire at no time before this' },
  to: { value: 'TIME', help: 'fire at no time after this' },
  tag: { value: 'NAME=VALUE', isMultiple: true, help: 'tag of the schedule; can be repeated' },
  paused: { help: 'create it paused; without this flag a paused one goes on' },
} as const;

type FlagName = keyof typeof SCHEDULE_FLAGS;
type Multiple = 'tag';
type Switch = 'fixed-delay' | 'allow-fast' | 'permanent' | 'paused';

/** The flags as they were typed. */
export type ScheduleFlags = {
  readonly [K in FlagName]?: K extends Multiple
    ? readonly string[]
    : K extends Switch
      ? boolean
      : string;
};

const KINDS: readonly FlagName[] = ['cron', 'every', 'at', 'permanent'];
const TARGETS: readonly FlagName[] = ['type', 'workflow'];

/** Flags that mean nothing without another one. */
const NEEDED: readonly (readonly [FlagName, FlagName])[] = [
  ['time-zone', 'cron'],
  ['fixed-delay', 'every'],
  ['start-at', 'every'],
  ['allow-fast', 'every'],
  ['replicas', 'permanent'],
  ['version', 'workflow'],
];

/** Flags about times, which a permanent schedule does not have. */
const ABOUT_TIMES: readonly FlagName[] = [
  'misfire',
  'misfire-max',
  'overlap',
  'jitter',
  'from',
  'to',
];

const SEE_HELP = "see 'sluice schedule put --help'";

/** What it makes: a task, a run or a command. */
function checkTarget(flags: ScheduleFlags, command: readonly string[]): void {
  const [target, second] = TARGETS.filter((name) => flags[name] !== undefined);
  if (second !== undefined) {
    throw new UsageError('--type and --workflow exclude each other: it makes tasks or runs');
  }
  if (command.length > 0) {
    if (target === undefined) return;
    throw new UsageError(`--${target} and a command exclude each other: it makes one of them`);
  }
  if (target === undefined) {
    const all = '--type TYPE for a task, --workflow NAME for a run, or -- COMMAND for a command';
    throw new UsageError(`what it makes is missing: give ${all}; ${SEE_HELP}`);
  }
  const limit = (['cpu', 'memory'] as const).find((name) => flags[name] !== undefined);
  if (limit !== undefined) throw new UsageError(`--${limit} needs a command: -- COMMAND`);
}

/** Throws a sentence about flags that are missing or exclude each other. */
function checkTogether(flags: ScheduleFlags, command: readonly string[]): void {
  const given = (names: readonly FlagName[]) => names.filter((name) => flags[name] !== undefined);
  const [kind, secondKind] = given(KINDS);
  if (kind === undefined) {
    const all = '--cron, --every, --at or --permanent';
    throw new UsageError(`the times are missing: give ${all}; ${SEE_HELP}`);
  }
  if (secondKind !== undefined) {
    throw new UsageError(`--${kind} and --${secondKind} exclude each other: give one of them`);
  }
  checkTarget(flags, command);
  for (const [flag, needed] of NEEDED) {
    if (flags[flag] === undefined || flags[needed] !== undefined) continue;
    const isZoned = flag === 'time-zone' && kind === 'at';
    const hint = isZoned ? '; a time has its own offset: 2030-12-24T18:00:00+01:00' : '';
    throw new UsageError(`--${flag} needs --${needed}${hint}`);
  }
  const [aboutTimes] = given(ABOUT_TIMES);
  if (kind === 'permanent' && aboutTimes !== undefined) {
    throw new UsageError(
      `--permanent and --${aboutTimes} exclude each other: a permanent schedule has no times`,
    );
  }
  if (flags['misfire-max'] !== undefined && flags.misfire !== 'all') {
    throw new UsageError('--misfire-max needs --misfire all');
  }
}

/** The schedule that the flags describe, as the API takes it. */
export async function scheduleOf(
  flags: ScheduleFlags,
  command: readonly string[],
  io: CommandIo,
): Promise<object> {
  checkTogether(flags, command);
  const { workflow, from, to } = flags;
  const window = from === undefined && to === undefined ? undefined : stated({ from, to });
  const misfire = choiceOf(flags.misfire, 'misfire', ['once', 'skip', 'all']);
  const overlap = choiceOf(flags.overlap, 'overlap', ['allow', 'skip', 'queue', 'cancelPrevious']);
  const target = stated({
    input: await jsonOf(flags.input, 'input', io),
    priority: integerOf(flags.priority, 'priority'),
  });
  const version = integerOf(flags.version, 'version');
  return stated({
    spec: specOf(flags),
    task: taskOf(flags, command, target),
    run: workflow === undefined ? undefined : stated({ workflow, version, ...target }),
    misfire,
    misfireMax: integerOf(flags['misfire-max'], 'misfire-max'),
    overlap,
    jitterMs: durationOf(flags.jitter, 'jitter'),
    window,
    tags: tagsOf(flags.tag),
    paused: flags.paused,
  });
}

function taskOf(flags: ScheduleFlags, command: readonly string[], target: object): unknown {
  const { type, cpu, memory } = flags;
  if (type !== undefined) return { type, ...target };
  if (command.length === 0) return undefined;
  const resources = stated({ cpu: cpuOf(cpu, 'cpu'), memoryMb: megabytesOf(memory, 'memory') });
  const limits = Object.keys(resources).length === 0 ? {} : { resources };
  return { exec: { command }, ...limits, ...target };
}

function specOf(flags: ScheduleFlags): object {
  const { cron, at, every } = flags;
  if (cron !== undefined) return stated({ cron, timeZone: flags['time-zone'] });
  if (at !== undefined) return { at };
  if (every === undefined) {
    return stated({ permanent: true, replicas: integerOf(flags.replicas, 'replicas') });
  }
  return stated({
    everyMs: durationOf(every, 'every'),
    mode: flags['fixed-delay'] === true ? 'fixedDelay' : undefined,
    startAt: flags['start-at'],
    allowFast: flags['allow-fast'],
  });
}

function choiceOf(
  text: string | undefined,
  flag: FlagName,
  allowed: readonly string[],
): string | undefined {
  if (text === undefined || allowed.includes(text)) return text;
  const near = suggest(text, allowed);
  const hint = near === undefined ? '' : `; did you mean '${near}'?`;
  const last = allowed.at(-1);
  const all = `${allowed.slice(0, -1).join(', ')} or ${last}`;
  throw new UsageError(`--${flag} is ${all}, not '${text}'${hint}`);
}

/** Fields of the API and their flags; a longer path comes before its beginning. */
const FLAG_OF_FIELD: readonly (readonly [RegExp, string])[] = [
  [/\/spec\/cron\b/g, '--cron'],
  [/\/spec\/timeZone\b/g, '--time-zone'],
  [/\/spec\/everyMs\b/g, '--every'],
  [/\/spec\/startAt\b/g, '--start-at'],
  [/\/spec\/at\b/g, '--at'],
  [/\/spec\/replicas\b/g, '--replicas'],
  [/\/spec has/g, 'it has'],
  [/\/window\/from\b/g, '--from'],
  [/\/window\/to\b/g, '--to'],
  [/\bwindow\.from\b/g, '--from'],
  [/\/misfireMax\b/g, '--misfire-max'],
  [/\/jitterMs\b/g, '--jitter'],
  [/\/task\/type\b/g, '--type'],
  [/\/run\/(workflow|version)\b/g, '--$1'],
  [/\/(?:task|run)\/(input|priority)\b/g, '--$1'],
  [/\/tags\b/g, '--tag'],
  [/\ballowFast\b/g, '--allow-fast'],
  [/--(every|jitter) ((?:is|must be) \D*\d+)/g, '--$1 $2ms'],
  [/the path is not valid: \/id\b/g, 'the id'],
  [/ \/(from|to|ratePerSec)\b/g, ' --$1'],
  [/--ratePerSec\b/g, '--rate'],
];

/** Makes the call. If the server refuses a field, the error names its flag. */
export async function namingFlags<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    throw new RefusedError(inFlags(cause.message), { code: cause.code, cause });
  }
}

/** A message of the server in the words of the command line. */
export function inFlags(message: string): string {
  return FLAG_OF_FIELD.reduce((text, [field, flag]) => text.replace(field, flag), message);
}
