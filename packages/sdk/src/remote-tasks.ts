import type { ApiCalls } from './api-calls.ts';
import { jsonOf } from './http-answers.ts';
import type { HttpAnswer, HttpRequest, TimePort } from './ports.ts';
import { errorOf, noAnswer, SluiceError } from './sluice-error.ts';
import type { CancelOptions, TaskOperations, WaitOptions } from './task-handle.ts';
import type { TaskDefaults } from './task-options.ts';
import type { TaskError, TaskView } from './task-view.ts';
import type { TaskWaits, WaitOutcome } from './task-waits.ts';

/** What is to come, told by one of two functions. */
export type Start<T> = (resolve: (value: T) => void, reject: (cause: unknown) => void) => void;

export interface RemoteTasksOptions {
  readonly calls: ApiCalls;
  readonly waits: TaskWaits;
  readonly startTimer: TimePort['startTimer'];
  /** Where the server is, for people. */
  readonly addresses: readonly string[];
  /** Makes a promise that ends with the client at the latest. */
  readonly until: <T>(start: Start<T>) => Promise<T>;
}

/** What handles do, over HTTP. */
export class RemoteTasks implements TaskOperations {
  private readonly options: RemoteTasksOptions;

  constructor(options: RemoteTasksOptions) {
    this.options = options;
  }

  async get(id: string): Promise<TaskView> {
    return viewOf(await this.call({ method: 'GET', path: pathOf(id) }));
  }

  /** One request is outstanding for all who wait (X1). */
  async wait(id: string, { timeoutMs, signal }: WaitOptions): Promise<TaskView> {
    signal?.throwIfAborted();
    const { waits, startTimer, until } = this.options;
    const ended = await until<TaskView | undefined>((resolve, reject) => {
      const cancelWatch = waits.watch(id, (outcome) => {
        stopLooking();
        if (outcome.type === 'ended') resolve(outcome.task as unknown as TaskView);
        else reject(whyNot(id, outcome));
      });
      const aborted = (): void => {
        stopLooking();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', aborted);
      const cancelTimer =
        timeoutMs === undefined
          ? () => undefined
          : startTimer(timeoutMs, () => {
              stopLooking();
              resolve(undefined);
            });
      const stopLooking = (): void => {
        cancelWatch();
        cancelTimer();
        signal?.removeEventListener('abort', aborted);
      };
    });
    return ended ?? this.get(id);
  }

  async cancel(id: string, options: CancelOptions): Promise<TaskView> {
    return viewOf(await this.post(`${pathOf(id)}/cancel`, options));
  }

  async signal(id: string, name: string, data: unknown): Promise<void> {
    await this.post(`${pathOf(id)}/signal`, { name, data });
  }

  async complete(id: string, output: unknown): Promise<void> {
    await this.post(`${pathOf(id)}/complete`, { output });
  }

  async fail(id: string, error: TaskError): Promise<void> {
    await this.post(`${pathOf(id)}/fail`, { error });
  }

  async putType(type: string, defaults: TaskDefaults): Promise<void> {
    const path = `/v1/task-types/${encodeURIComponent(type)}`;
    await this.call({ method: 'PUT', path, body: JSON.stringify(defaults) });
  }

  close(): void {
    this.options.calls.close();
    this.options.waits.close();
  }

  private post(path: string, body: object): Promise<HttpAnswer> {
    return this.call({ method: 'POST', path, body: JSON.stringify(body) });
  }

  private call(request: Omit<HttpRequest, 'address'>): Promise<HttpAnswer> {
    return this.options.until((resolve, reject) => {
      this.options.calls.call(request, (outcome) => {
        if (outcome.type === 'answered') resolve(outcome.answer);
        else if (outcome.type === 'refused') reject(errorOf(outcome.refusal));
        else reject(noAnswer(this.options.addresses));
      });
    });
  }
}

/** Ids are opaque, and may come from anywhere. */
function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

function viewOf(answer: HttpAnswer): TaskView {
  const view = jsonOf(answer) as TaskView | null | undefined;
  if (typeof view?.state === 'string') return view;
  throw new SluiceError('no_answer', 'something else than a Sluice server answered');
}

function whyNot(id: string, outcome: Exclude<WaitOutcome, { type: 'ended' }>): SluiceError {
  if (outcome.type === 'refused') return errorOf(outcome.refusal);
  return new SluiceError('task_not_found', `no task '${id}'`, { status: 404 });
}
