import { RunFailed, SluiceError } from '../calls/sluice-error.ts';
import { traced } from '../calls/traced.ts';
import { errorFrom } from '../operators/run-groups.ts';
import type { RunPort } from '../operators/run-port.ts';
import { checkWait, type ResultOptions, type WaitOptions } from '../task/task-handle.ts';
import type { TaskError } from '../task/task-view.ts';
import type { RunHandle } from '../workflow/run-handle.ts';
import { hasRunEnded, type RunView } from '../workflow/run-view.ts';

/** A handle whose calls go to the server of a client. */
export class ClientRunHandle<Output = unknown> implements RunHandle<Output> {
  readonly id: string;
  readonly deduplicated: boolean;
  private readonly port: RunPort;

  constructor(id: string, port: RunPort, deduplicated = false) {
    this.id = id;
    this.port = port;
    this.deduplicated = deduplicated;
  }

  async result(options: ResultOptions = {}): Promise<Output> {
    const run = await traced(this.port.waitForRun(this.id, checkWait(options)));
    if (run.status === 'succeeded') return run.output as Output;
    if (hasRunEnded(run)) throw new RunFailed(run);
    const waited = `run ${this.id} is ${run.status} after ${options.timeoutMs} ms`;
    throw new SluiceError('wait_timeout', waited);
  }

  async wait(options: WaitOptions = {}): Promise<RunView<Output>> {
    return traced(this.port.waitForRun(this.id, checkWait(options))) as Promise<RunView<Output>>;
  }

  get(): Promise<RunView<Output>> {
    return traced(this.port.getRun(this.id)) as Promise<RunView<Output>>;
  }

  cancel(): Promise<RunView<Output>> {
    return traced(this.port.cancelRun(this.id)) as Promise<RunView<Output>>;
  }

  pause(): Promise<RunView<Output>> {
    return traced(this.port.pauseRun(this.id)) as Promise<RunView<Output>>;
  }

  resume(): Promise<RunView<Output>> {
    return traced(this.port.resumeRun(this.id)) as Promise<RunView<Output>>;
  }

  retry(): Promise<RunView<Output>> {
    return traced(this.port.retryRun(this.id)) as Promise<RunView<Output>>;
  }

  restart(): Promise<RunView<Output>> {
    return traced(this.port.restartRun(this.id)) as Promise<RunView<Output>>;
  }

  rerun(fromStep: string, input?: unknown): Promise<RunView<Output>> {
    const from = { fromStep, ...(input === undefined ? {} : { input }) };
    return traced(this.port.rerunRun(this.id, from)) as Promise<RunView<Output>>;
  }

  complete(step: string, output: unknown = null): Promise<RunView<Output>> {
    return traced(this.port.completeStep(this.id, step, output)) as Promise<RunView<Output>>;
  }

  skip(step: string): Promise<RunView<Output>> {
    return traced(this.port.skipStep(this.id, step)) as Promise<RunView<Output>>;
  }

  fail(step: string, error: string | TaskError): Promise<RunView<Output>> {
    return traced(this.port.failStep(this.id, step, errorFrom(error))) as Promise<RunView<Output>>;
  }
}
