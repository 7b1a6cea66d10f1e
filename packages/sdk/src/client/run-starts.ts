import { LIMITS } from '@sluice/protocol/limits';
import { SluiceError } from '../calls/sluice-error.ts';
import type { RunPort } from '../operators/run-port.ts';
import type { RunHandle } from '../workflow/run-handle.ts';
import type { RunRequest, StartedRun } from '../workflow/run-types.ts';
import type { StartManyOptions, StartOptions } from '../workflow/run-view.ts';
import type { AnyWorkflow } from '../workflow/workflow.ts';
import { ClientRunHandle } from './run-handle.ts';

/**
 * Starts runs, and makes sure that the server has the definition that the program has.
 *
 * A workflow is compared with the server's once per client, and registered when the server does not
 * know it. So a program works at once, and never runs another definition than its own.
 */
export class RunStarts {
  private readonly port: RunPort;
  /** Workflows that the server has, or that are being compared. */
  private readonly known = new WeakMap<AnyWorkflow, Promise<void>>();

  constructor(port: RunPort) {
    this.port = port;
  }

  async one(
    workflow: AnyWorkflow | string,
    input: unknown,
    options: StartOptions,
  ): Promise<RunHandle> {
    const requests = [requestOf(workflow, input, options)];
    const [started] = await this.start(workflow, requests, true);
    return this.handle(started);
  }

  async many(
    workflow: AnyWorkflow | string,
    inputs: readonly unknown[],
    options: StartManyOptions<never>,
  ): Promise<RunHandle[]> {
    const requests = inputs.map((input, index) => {
      const own = typeof options === 'function' ? options(input as never, index) : options;
      return requestOf(workflow, input, own);
    });
    const handles: RunHandle[] = [];
    for (let first = 0; first < requests.length; first += LIMITS.batchRunsMax) {
      const part = requests.slice(first, first + LIMITS.batchRunsMax);
      const started = await this.start(workflow, part, false).catch((cause: unknown) => {
        throw movedBy(first, cause);
      });
      handles.push(...started.map((run) => this.handle(run)));
    }
    return handles;
  }

  private async start(
    workflow: AnyWorkflow | string,
    requests: readonly RunRequest[],
    isSingle: boolean,
  ): Promise<readonly StartedRun[]> {
    if (typeof workflow === 'string') return this.port.start(requests, isSingle);
    await this.compared(workflow);
    try {
      return await this.port.start(requests, isSingle);
    } catch (cause) {
      if (!isCode(cause, 'workflow_not_found')) throw cause;
      // It was deleted after it was compared.
      await this.register(workflow);
      return this.port.start(requests, isSingle);
    }
  }

  private compared(workflow: AnyWorkflow): Promise<void> {
    const known = this.known.get(workflow);
    if (known !== undefined) return known;
    const comparing = this.compare(workflow);
    this.known.set(workflow, comparing);
    comparing.catch(() => this.known.delete(workflow));
    return comparing;
  }

  private async register({ name, version, definition }: AnyWorkflow): Promise<void> {
    try {
      await this.port.putWorkflow(definition, {});
    } catch (cause) {
      if (!isCode(cause, 'forbidden')) throw cause;
      const what = `version ${version} of '${name}' is not registered, and this key may not do it`;
      const todo = "register it with the role operator, such as by 'sluice workflow apply'";
      throw new SluiceError('forbidden', `${what}; ${todo}`, { status: 403 });
    }
  }

  /** What its runs start comes first. */
  private async compare(workflow: AnyWorkflow): Promise<void> {
    const { name, version, definition, uses } = workflow;
    for (const used of uses) await this.compared(used);
    try {
      const registered = await this.port.getVersion(name, version);
      if (JSON.stringify(registered.definition) === JSON.stringify(definition)) return;
    } catch (cause) {
      if (!isCode(cause, 'workflow_not_found')) throw cause;
      return this.register(workflow);
    }
    const what = `version ${version} of '${name}' is registered with another definition`;
    throw new SluiceError('version_in_use', `${what}; raise the version in defineWorkflow`, {
      status: 409,
    });
  }

  handle({ id, deduplicated = false }: { id: string; deduplicated?: boolean }): RunHandle {
    return new ClientRunHandle(id, this.port, deduplicated);
  }
}

function requestOf(
  workflow: AnyWorkflow | string,
  input: unknown,
  options: StartOptions,
): RunRequest {
  const { version } = options;
  if (typeof workflow === 'string') return { workflow, input, ...options };
  if (version !== undefined && version !== workflow.version) {
    const what = `the workflow '${workflow.name}' has the version ${workflow.version}`;
    throw new TypeError(`${what}; to start version ${version}, start it by its name`);
  }
  return { workflow: workflow.name, input, ...options, version: workflow.version };
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof SluiceError && cause.code === code;
}

/** Makes the indexes in an error relative to all runs of the caller. */
function movedBy(first: number, cause: unknown): unknown {
  if (first === 0 || !(cause instanceof SluiceError)) return cause;
  const moved = (text: string): string => {
    return text.replace(/(^|\s)\/(\d+)/, (_, start, place) => `${start}/${Number(place) + first}`);
  };
  const details = cause.details.map(({ path, problem }) => ({ path: moved(path), problem }));
  return new SluiceError(cause.code, moved(cause.message), { status: cause.status, details });
}
