import type { ClientPorts, HttpAnswer } from '../base/ports.ts';
import type { ApiCalls } from '../calls/api-calls.ts';
import { bodyOf, type Until } from '../calls/promised-call.ts';
import { errorOf, noAnswer } from '../calls/sluice-error.ts';
import type { WaitOptions } from '../task/task-handle.ts';
import { hasRunEnded, type RunView } from '../workflow/run-view.ts';

/** How long a request waits on the server: shorter while others wait for their turn. */
const WAIT_MS = 5000;
const TURN_MS = 250;

interface Parts {
  /** Calls with time for an answer that comes after `WAIT_MS`. */
  readonly calls: ApiCalls;
  readonly until: Until;
  readonly addresses: readonly string[];
  readonly now: ClientPorts['now'];
  /** Maximum number of waits that have a request. */
  readonly atOnce: number;
}

/** Waits for the ends of runs. Each wait is a request; if there are too many, they take turns. */
export class RunWaits {
  private readonly parts: Parts;
  private waiting = 0;
  /** Waits that have no request, the longest first. */
  private readonly line: (() => void)[] = [];

  constructor(parts: Parts) {
    this.parts = parts;
  }

  async wait(id: string, { timeoutMs, signal }: WaitOptions): Promise<RunView> {
    const { now } = this.parts;
    const deadline = now() + (timeoutMs ?? Number.POSITIVE_INFINITY);
    for (;;) {
      await this.enter();
      try {
        signal?.throwIfAborted();
        const turnMs = this.line.length > 0 ? TURN_MS : WAIT_MS;
        const waitMs = Math.max(0, Math.min(turnMs, Math.ceil(deadline - now())));
        const run = await this.ask(id, waitMs, signal);
        if (hasRunEnded(run) || now() >= deadline) return run;
      } finally {
        this.leave();
      }
    }
  }

  private async ask(id: string, waitMs: number, signal?: AbortSignal): Promise<RunView> {
    const { calls, until, addresses } = this.parts;
    const path = `/v1/runs/${encodeURIComponent(id)}/wait?timeoutMs=${waitMs}`;
    let stopListening = (): void => undefined;
    const answer = until<HttpAnswer>((resolve, reject) => {
      const cancel = calls.call({ method: 'GET', path }, (outcome) => {
        if (outcome.type === 'answered') resolve(outcome.answer);
        else if (outcome.type === 'refused') reject(errorOf(outcome.refusal));
        else reject(noAnswer(addresses, outcome.problem));
      });
      const aborted = (): void => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', aborted);
      stopListening = () => signal?.removeEventListener('abort', aborted);
    });
    return bodyOf<RunView>(await answer.finally(() => stopListening()));
  }

  private async enter(): Promise<void> {
    if (this.waiting >= this.parts.atOnce) {
      await this.parts.until<void>((resolve) => this.line.push(resolve));
    } else this.waiting += 1;
  }

  /** The place goes to the next in line, if there is one. */
  private leave(): void {
    const next = this.line.shift();
    if (next === undefined) this.waiting -= 1;
    else next();
  }
}
