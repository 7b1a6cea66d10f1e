import { jsonText } from '../base/json-text.ts';
import type { HttpRequest } from '../base/ports.ts';
import type { ApiRequest } from '../calls/api-calls.ts';
import { bodyOf, type PromisedCall } from '../calls/promised-call.ts';
import { type BlobPort, payloadIn } from '../calls/remote-blobs.ts';
import { SluiceError } from '../calls/sluice-error.ts';
import type { Page, PageOptions } from '../operators/pages.ts';
import { queryText } from '../operators/query-text.ts';
import type { PutWorkflowOptions, RerunFrom, RunPort, RunQuery } from '../operators/run-port.ts';
import type { WaitOptions } from '../task/task-handle.ts';
import type { TaskError } from '../task/task-view.ts';
import type {
  RunRequest,
  RunSummary,
  StartedRun,
  StepView,
  WorkflowChange,
  WorkflowView,
} from '../workflow/run-types.ts';
import type { RunView, WorkflowVersionView } from '../workflow/run-view.ts';
import type { WorkflowJson } from '../workflow/workflow.ts';
import type { RunWaits } from './run-waits.ts';

interface Parts {
  readonly call: PromisedCall;
  readonly waits: RunWaits;
  readonly blobs: Pick<BlobPort, 'get'>;
  /** Makes a key that no other call has. */
  readonly newKey: () => string;
  /** How long a request may still be sent again, or be under way. */
  readonly resentWithinMs: number;
}

/** The operations on workflows and runs, over HTTP. */
export class RemoteRuns implements RunPort {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** A run is started once, however often the request is sent: one without a key gets one. */
  async start(runs: readonly RunRequest[], isSingle: boolean): Promise<readonly StartedRun[]> {
    const keyed = runs.map((run) => (hasKey(run) ? run : this.keyed(run)));
    const json = jsonText(isSingle ? keyed[0] : keyed);
    if ('problem' in json) throw notJson(json.problem, 'the input of the run');
    const request = { method: 'POST', path: '/v1/runs', body: json.text } as const;
    const answer = bodyOf<Partial<Items>>(await this.parts.call(request));
    const started = isSingle ? [answer as StartedRun] : (answer.items ?? []);
    // The own key is found again only after a lost answer.
    return started.map((run, index) => {
      return hasKey(runs[index]) ? run : { ...run, deduplicated: false };
    });
  }

  private keyed(run: RunRequest): RunRequest {
    const { newKey, resentWithinMs } = this.parts;
    return { ...run, dedupeKey: `sdk.${newKey()}`, dedupeWindowMs: resentWithinMs };
  }

  async getRun(id: string): Promise<RunView> {
    return this.filled(await this.read<RunView>(runPath(id)));
  }

  async waitForRun(id: string, options: WaitOptions): Promise<RunView> {
    return this.filled(await this.parts.waits.wait(id, options));
  }

  cancelRun(id: string): Promise<RunView> {
    return this.send({ method: 'POST', path: `${runPath(id)}/cancel` });
  }

  pauseRun(id: string): Promise<RunView> {
    return this.send({ method: 'POST', path: `${runPath(id)}/pause` });
  }

  resumeRun(id: string): Promise<RunView> {
    return this.send({ method: 'POST', path: `${runPath(id)}/resume` });
  }

  retryRun(id: string): Promise<RunView> {
    return this.revive(`${runPath(id)}/retry`);
  }

  restartRun(id: string): Promise<RunView> {
    return this.revive(`${runPath(id)}/restart`);
  }

  rerunRun(id: string, from: RerunFrom): Promise<RunView> {
    return this.revive(`${runPath(id)}/rerun`, from);
  }

  /** Not sent twice: the run may have ended again in the meantime. */
  private async revive(path: string, given?: object): Promise<RunView> {
    const json = given === undefined ? { text: undefined } : jsonText(given);
    if ('problem' in json) throw notJson(json.problem, 'the input of the step');
    const body = json.text === undefined ? {} : { body: json.text };
    const request = { method: 'POST', path, ...body, isOnce: true } as const;
    return this.filled(bodyOf<RunView>(await this.parts.call(request)));
  }

  completeStep(id: string, step: string, output: unknown): Promise<RunView> {
    const key = this.parts.newKey();
    return this.endStep(`${stepPath(id, step)}/complete`, { output, key });
  }

  skipStep(id: string, step: string): Promise<RunView> {
    return this.revive(`${stepPath(id, step)}/skip`);
  }

  failStep(id: string, step: string, error: TaskError): Promise<RunView> {
    return this.endStep(`${stepPath(id, step)}/fail`, { error, key: this.parts.newKey() });
  }

  /** Sent again when no answer comes: by its key, the second one changes nothing. */
  private async endStep(path: string, given: object): Promise<RunView> {
    const json = jsonText(given);
    if ('problem' in json) throw notJson(json.problem, 'the end of the step');
    const request = { method: 'POST', path, body: json.text } as const;
    return this.filled(bodyOf<RunView>(await this.parts.call(request)));
  }

  listRuns({ tags = {}, ...query }: RunQuery & PageOptions): Promise<Page<RunSummary>> {
    const named = Object.entries(tags).map(([name, value]) => [`tag.${name}`, value]);
    return this.read('/v1/runs', { ...query, ...Object.fromEntries(named) });
  }

  listSteps(id: string, page: PageOptions): Promise<Page<StepView>> {
    return this.read(`${runPath(id)}/steps`, page);
  }

  putWorkflow(
    definition: WorkflowJson,
    { dryRun = false }: PutWorkflowOptions,
  ): Promise<WorkflowChange> {
    const path = `${versionPath(definition.name, definition.version)}?dryRun=${dryRun}`;
    return this.send({ method: 'PUT', path, body: definition });
  }

  listWorkflows(page: PageOptions): Promise<Page<WorkflowView>> {
    return this.read('/v1/workflows', page);
  }

  getWorkflow(name: string): Promise<WorkflowView> {
    return this.read(workflowPath(name));
  }

  getVersion(name: string, version: number): Promise<WorkflowVersionView> {
    return this.read(versionPath(name, version));
  }

  async deleteVersion(name: string, version: number): Promise<void> {
    const path = versionPath(name, version);
    await this.parts.call({ method: 'DELETE', path, doneWhen: 'workflow_not_found' });
  }

  private read<T extends object>(path: string, query: object = {}): Promise<T> {
    return this.send({ method: 'GET', path: `${path}${queryText(query)}` });
  }

  private async send<T extends object>({ body, ...request }: Sent): Promise<T> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return bodyOf<T>(await this.parts.call({ ...request, ...text }));
  }

  /** The run with its output, which is downloaded when it is a blob. */
  private async filled(view: RunView): Promise<RunView> {
    const { outputBlob } = view;
    if (outputBlob === undefined) return view;
    return { ...view, output: payloadIn(outputBlob, await this.parts.blobs.get(outputBlob)) };
  }
}

/** A window without a key is for the server to refuse. */
function hasKey({ dedupeKey, dedupeWindowMs }: RunRequest): boolean {
  return dedupeKey !== undefined || dedupeWindowMs !== undefined;
}

interface Items {
  readonly items: readonly StartedRun[];
}

function notJson(problem: string, what: string): SluiceError {
  return new SluiceError('invalid_request', `${what} is not JSON: ${problem}`, { status: 400 });
}

interface Sent extends Omit<ApiRequest, 'body'> {
  readonly method: HttpRequest['method'];
  readonly body?: object;
}

function runPath(id: string): string {
  return `/v1/runs/${encodeURIComponent(id)}`;
}

function stepPath(id: string, step: string): string {
  return `${runPath(id)}/steps/${encodeURIComponent(step)}`;
}

function workflowPath(name: string): string {
  return `/v1/workflows/${encodeURIComponent(name)}`;
}

function versionPath(name: string, version: number): string {
  return `${workflowPath(name)}/versions/${version}`;
}
