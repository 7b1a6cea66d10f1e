import { constants } from 'node:os';

type StopSignal = 'SIGINT' | 'SIGTERM';

interface StopPorts {
  /** Whether somebody reads a question and can press Ctrl-C again. */
  readonly isTerminal: boolean;
  readonly ask: (question: string) => void;
  readonly exit: (code: number) => void;
}

/**
 * What signals do to a command: the first asks it to stop, and a second ends the process, because
 * the user does not want to wait. Everything acknowledged is on disk then.
 *
 * A command may have a question. On a terminal the first Ctrl-C shows only that.
 */
export class StopSignals {
  private readonly ports: StopPorts;
  private readonly controller = new AbortController();
  /** Undefined when there is none, or after it was shown. */
  private question: string | undefined;

  constructor(ports: StopPorts) {
    this.ports = ports;
  }

  /** Aborted when the command is to stop. */
  get stop(): AbortSignal {
    return this.controller.signal;
  }

  askFirst(question: string): void {
    if (this.ports.isTerminal) this.question = question;
  }

  take(signal: StopSignal): void {
    const { question, ports } = this;
    if (this.stop.aborted) return ports.exit(128 + constants.signals[signal]);
    if (question === undefined || signal !== 'SIGINT') return this.abort();
    this.question = undefined;
    ports.ask(question);
  }

  abort(): void {
    this.controller.abort();
  }
}
