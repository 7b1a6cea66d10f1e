/** How a program ended, as the host saw it. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly wasOutOfMemory: boolean;
  readonly wasDiskFull: boolean;
  readonly memoryPeakBytes: number | undefined;
  /** The last lines on stderr. */
  readonly lastErrors: readonly string[];
}

/** What the limits of the attempt were. */
export interface StatedLimits {
  readonly memoryMb?: number;
  readonly diskMb?: number;
}

export interface CommandFailure {
  readonly code: string;
  readonly message: string;
  readonly isRetryable: boolean;
  /** When another attempt makes sense; by default the task decides. */
  readonly retryAfterMs?: number;
}

/** Exit codes with which a shell says that a program cannot be run, or is not there. */
const CANNOT_RUN = 126;
const NOT_FOUND = 127;
const SIGNAL_BASE = 128;
const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
};

/** Characters of a message that come from stderr. */
const QUOTED_MAX = 500;

/** Why the command failed; undefined when it succeeded. */
export function failureOf(
  end: CommandEnd,
  program: string,
  limits: StatedLimits,
  retryableExitCodes: readonly number[] | undefined,
): CommandFailure | undefined {
  if (end.wasOutOfMemory) return outOfMemory(end, limits);
  if (end.wasDiskFull) return diskFull(limits);
  const { exitCode } = end;
  if (exitCode === 0) return undefined;
  const isNoProgram = exitCode === CANNOT_RUN || exitCode === NOT_FOUND;
  const isRetryable = retryableExitCodes?.includes(exitCode) ?? !isNoProgram;
  const quoted = end.lastErrors.join('\n').slice(-QUOTED_MAX);
  const said = quoted === '' ? '' : `: ${quoted}`;
  if (exitCode === NOT_FOUND) {
    return { code: 'command_not_found', message: `'${program}' was not found${said}`, isRetryable };
  }
  if (exitCode === CANNOT_RUN) {
    return { code: 'command_not_run', message: `'${program}' cannot be run${said}`, isRetryable };
  }
  const signal = SIGNALS[exitCode - SIGNAL_BASE];
  const how = signal === undefined ? `exited with ${exitCode}` : `was ended by ${signal}`;
  return { code: `exit_${exitCode}`, message: `'${program}' ${how}${said}`, isRetryable };
}

/** More memory may be there on another worker, but the limit of the task stays the same. */
function outOfMemory({ memoryPeakBytes }: CommandEnd, { memoryMb }: StatedLimits): CommandFailure {
  const peak =
    memoryPeakBytes === undefined ? '' : `; it used ${Math.ceil(memoryPeakBytes / 2 ** 20)} MiB`;
  const limit = memoryMb === undefined ? 'its limit' : `its limit of ${memoryMb} MiB`;
  const message = `the command needed more memory than ${limit}${peak}`;
  return { code: 'out_of_memory', message, isRetryable: false };
}

function diskFull({ diskMb }: StatedLimits): CommandFailure {
  const limit = diskMb === undefined ? 'the limit of the agent' : `its limit of ${diskMb} MiB`;
  const message = `the scratch folder of the command grew over ${limit}`;
  return { code: 'out_of_disk', message, isRetryable: false };
}

const KILLED = 137;
const NEAR_LIMIT = 0.98;

/**
 * Whether a container ran out of memory, by its exit code and what it used. Podman does not always
 * say so.
 */
export function isKilledAtLimit(
  exitCode: number,
  memoryPeakBytes = 0,
  memoryMb = Number.POSITIVE_INFINITY,
): boolean {
  return exitCode === KILLED && memoryPeakBytes >= memoryMb * 2 ** 20 * NEAR_LIMIT;
}
