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
  /** What is piped into the command, to its end. */
  readonly readStdin: () => Promise<Buffer>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The screen, when stdout or stderr is one. */
  readonly terminal: Terminal;
  /** Fires when the user or the system wants the command to end. */
  readonly stop: AbortSignal;
}

interface Terminal {
  readonly isStdout: boolean;
  readonly isStderr: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Writes as it is, without a line end: whoever draws lets texts of others be `visible`. */
  readonly drawOnStderr: (text: string) => void;
  readonly drawOnStdout: (text: string) => void;
}
