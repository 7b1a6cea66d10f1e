/** What the process answers to its caller. */
export const ExitCode = {
  done: 0,
  refused: 1,
  usage: 2,
  noServer: 3,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The outside world of a command: stdout is for data, stderr for the rest. */
export interface CommandIo {
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** Fires when the user or the system wants the command to end. */
  readonly stop: AbortSignal;
}
