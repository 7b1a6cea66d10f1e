import { fitsRequest } from '../base/json-text.ts';
import type { HttpAnswer, TimePort } from '../base/ports.ts';
import { jsonOf } from '../calls/http-answers.ts';
import type { PromisedCall, Until } from '../calls/promised-call.ts';
import { type BlobPort, payloadIn } from '../calls/remote-blobs.ts';
import { errorOf, SluiceError } from '../calls/sluice-error.ts';
import type { CancelOptions, WaitOptions } from '../task/task-handle.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type { RetryChanges, TaskChanges, TaskDefaults } from '../task/task-options.ts';
import type { TaskError, TaskView } from '../task/task-view.ts';
import type { TaskWaits, WaitOutcome } from './task-waits.ts';

export interface RemoteTasksOptions {
  readonly call: PromisedCall;
  readonly waits: TaskWaits;
  readonly blobs: BlobPort;
  readonly startTimer: TimePort['startTimer'];
  readonly until: Until;
  /** Makes a key that no other call has. */
  readonly newKey: () => string;
}

/** The operations of task handles, over HTTP. */
export class RemoteTasks implements TaskOperations {
  private readonly options: RemoteTasksOptions;

  constructor(options: RemoteTasksOptions) {
    this.options = options;
  }

  async get(id: string): Promise<TaskView> {
    return this.filled(viewOf(await this.options.call({ method: 'GET', path: pathOf(id) })));
  }

  /** One outstanding request serves all waits (waits.one-request). */
  async wait(id: string, { timeoutMs, signal }: WaitOptions): Promise<TaskView> {
    signal?.throwIfAborted();
    // The server would refuse it, and with it the other waits in the same request.
    if (!TASK_ID.test(id)) throw notFound(id);
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
    return ended === undefined ? this.get(id) : this.filled(ended);
  }

  async cancel(id: string, options: CancelOptions): Promise<TaskView> {
    return viewOf(await this.post(`${pathOf(id)}/cancel`, options));
  }

  /** Idempotent: a repeated update changes nothing more. */
  async update(id: string, changes: TaskChanges): Promise<TaskView> {
    const { input, ...others } = changes;
    const text = input === undefined ? '' : (JSON.stringify(input) ?? 'null');
    // A large object must be merged by the server, which may refuse it. Any other input replaces
    // the old one.
    const isBlob = !fitsRequest(text) && !text.startsWith('{');
    const body = isBlob ? { ...others, inputBlob: await this.options.blobs.put(text) } : changes;
    const answer = await this.options.call({
      method: 'PATCH',
      path: pathOf(id),
      body: JSON.stringify(body),
    });
    return viewOf(answer);
  }

  /** Not idempotent for the server, but a repeat is refused as long as the first one counts. */
  async retry(id: string, { input, ...others }: RetryChanges): Promise<TaskView> {
    const change = input === undefined ? {} : await this.sentInput(input);
    const body = JSON.stringify({ ...others, ...change });
    const path = `${pathOf(id)}/retry`;
    const request = { method: 'POST', path, doneWhen: 'task_not_finished' } as const;
    const answer = await this.options.call(body === '{}' ? request : { ...request, body });
    return answer.text === '' ? this.get(id) : viewOf(answer);
  }

  /** A large input becomes a blob. */
  private async sentInput(input: unknown): Promise<object> {
    const text = JSON.stringify(input) ?? 'null';
    return fitsRequest(text) ? { input } : { inputBlob: await this.options.blobs.put(text) };
  }

  // A call is sent again when its answer is lost. The server or the worker recognizes it by its
  // key.

  async signal(id: string, name: string, data: unknown): Promise<void> {
    await this.post(`${pathOf(id)}/signal`, { name, data, key: this.options.newKey() });
  }

  async complete(id: string, output: unknown): Promise<void> {
    const text = JSON.stringify(output) ?? 'null';
    const request = fitsRequest(text)
      ? { output }
      : { outputBlob: await this.options.blobs.put(text) };
    await this.post(`${pathOf(id)}/complete`, { ...request, key: this.options.newKey() });
  }

  async fail(id: string, error: TaskError): Promise<void> {
    await this.post(`${pathOf(id)}/fail`, { error, key: this.options.newKey() });
  }

  async putType(type: string, defaults: TaskDefaults): Promise<void> {
    const path = `/v1/task-types/${encodeURIComponent(type)}`;
    await this.options.call({ method: 'PUT', path, body: JSON.stringify(defaults) });
  }

  /** The definition that the server has of a type; undefined when it has none. */
  async getType(type: string): Promise<TaskDefaults | undefined> {
    const path = `/v1/task-types/${encodeURIComponent(type)}`;
    try {
      const answer = jsonOf(await this.options.call({ method: 'GET', path }));
      const { definition } = answer as { definition?: unknown };
      if (typeof definition === 'object' && definition !== null) return definition;
    } catch (cause) {
      if (cause instanceof SluiceError && cause.code === 'task_type_not_found') return undefined;
      throw cause;
    }
    throw new SluiceError('no_answer', 'the answer is not from a Sluice server');
  }

  private post(path: string, body: object): Promise<HttpAnswer> {
    return this.options.call({ method: 'POST', path, body: JSON.stringify(body) });
  }

  /** The task with its output, which is downloaded when it is a blob. */
  private async filled(view: TaskView): Promise<TaskView> {
    const { outputBlob } = view;
    if (outputBlob === undefined) return view;
    return { ...view, output: payloadIn(outputBlob, await this.options.blobs.get(outputBlob)) };
  }
}

/** Ids are opaque and may come from any source. */
function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

function viewOf(answer: HttpAnswer): TaskView {
  const view = jsonOf(answer) as TaskView | null | undefined;
  if (typeof view?.state === 'string') return view;
  throw new SluiceError('no_answer', 'the answer is not from a Sluice server');
}

function whyNot(id: string, outcome: Exclude<WaitOutcome, { type: 'ended' }>): SluiceError {
  if (outcome.type === 'refused') return errorOf(outcome.refusal);
  return notFound(id);
}

/** The form of ids that requests accept. */
const TASK_ID = /^[A-Za-z0-9_-]{1,64}$/;

function notFound(id: string): SluiceError {
  return new SluiceError('task_not_found', `no task '${id}'`, { status: 404 });
}
