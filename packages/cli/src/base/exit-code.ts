/** Exit codes of the process. */
export const ExitCode = {
  done: 0,
  refused: 1,
  usage: 2,
  noServer: 3,
} as const;

/** Besides those above: `sluice exec` ends with the exit code of its command. */
export type ExitCode = number;

/** The environment of a command: stdout is for data, stderr for the rest. */
export interface CommandIo {
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** Reads all of stdin. */
  readonly readStdin: () => Promise<Buffer>;
  /** Whether stdin is a pipe or a file. */
  readonly isPiped: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The terminal, when stdout or stderr is one. */
  readonly terminal: Terminal;
  /** Aborted when the user or the system wants the command to end. */
  readonly stop: AbortSignal;
  /** On a terminal the first Ctrl-C from now on shows this, and only the next one aborts `stop`. */
  readonly askFirst: (question: string) => void;
}

interface Terminal {
  readonly isStdout: boolean;
  readonly isStderr: boolean;
  readonly columns: number;
  readonly rows: number;
  /**
   * Writes the text as it is, without a line end. The caller makes foreign texts `visible` first.
   */
  readonly drawOnStderr: (text: string) => void;
  readonly drawOnStdout: (text: string) => void;
}
