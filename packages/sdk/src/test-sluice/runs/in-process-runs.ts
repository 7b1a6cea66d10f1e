import {
  DEFAULT_NAMESPACE,
  findRun,
  isRunOver,
  NO_SLOT,
  type OperateStep,
  type ReviveRun,
  type Slot,
  type StoredProgram,
} from '@sluice/core';
import type { Page, PageOptions } from '../../operators/pages.ts';
import type { PutWorkflowOptions, RerunFrom, RunPort, RunQuery } from '../../operators/run-port.ts';
import type { WaitOptions } from '../../task/task-handle.ts';
import type { TaskError } from '../../task/task-view.ts';
import type {
  RunRequest,
  RunSummary,
  StartedRun,
  StepView,
  WorkflowChange,
  WorkflowView,
} from '../../workflow/run-types.ts';
import type { RunView, WorkflowVersionView } from '../../workflow/run-view.ts';
import type { WorkflowJson } from '../../workflow/workflow.ts';
import { check } from '../server/checked-requests.ts';
import {
  checkTimes,
  type Placed,
  pageOf,
  sentFilter,
  sortable,
} from '../server/in-process-lists.ts';
import type { InProcessServer } from '../server/in-process-server.ts';
import { encoded, joinedPayloads } from '../server/payloads.ts';
import type { TestBlobs } from '../server/test-blobs.ts';
import {
  isMeant,
  refusal,
  revivalRefusal,
  runNotFound,
  runRefusal,
  startedRun,
  startRefusal,
  stepRefusal,
  versionView,
  workflowNotFound,
} from './run-answers.ts';
import { definitionText, runClaims, runSpecs } from './run-requests.ts';
import { runSummary, runView, stepViews } from './run-views.ts';

const namespace = DEFAULT_NAMESPACE;

interface Parts {
  readonly server: InProcessServer;
  readonly blobs: TestBlobs;
  /** Returns when the run has ended, or its current state at the timeout. */
  readonly waitFor: (id: string, options: WaitOptions, show: () => RunView) => Promise<RunView>;
}

interface Revival extends Partial<RerunFrom> {
  readonly operation: ReviveRun['operation'];
}

type StepEnd = Pick<OperateStep, 'reference' | 'operation' | 'payload' | 'message'>;

interface AskedPage {
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

/** What is stated of a page. */
function pageFields({ limit, cursor }: AskedPage): { limit?: number; cursor?: string } {
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(cursor == null ? {} : { cursor }),
  };
}

/** The operations on workflows and runs, on a server in the same process. */
export class InProcessRuns implements RunPort {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  async start(requests: readonly RunRequest[], isSingle: boolean): Promise<readonly StartedRun[]> {
    const { server } = this.parts;
    const { bytes, ends } = joinedPayloads(
      requests.map(({ input }) => input),
      (index) => `${isSingle ? '' : `/${index}`}/input`,
      // An input is no blob here, as on a server.
      undefined,
    );
    const dedupe = runClaims(requests);
    const command = {
      type: 'start_runs',
      namespace,
      runs: runSpecs(requests, isSingle),
      inputs: bytes,
      inputEnds: ends,
      ...(dedupe === undefined ? {} : { dedupe }),
    } as const;
    return server.execute(command, (reply, state) => {
      if (reply.rejection !== undefined) throw startRefusal(reply, requests, isSingle);
      return reply.slots.map((slot, index) => startedRun(state, slot, reply.known?.get(index)));
    });
  }

  async getRun(id: string): Promise<RunView> {
    return this.view(this.slotOf(id));
  }

  async waitForRun(id: string, options: WaitOptions): Promise<RunView> {
    const slot = this.slotOf(id);
    const show = (): RunView => this.view(slot);
    const { table } = this.parts.server.partition.state.runs;
    return isRunOver(table.state[slot]) ? show() : this.parts.waitFor(id, options, show);
  }

  async cancelRun(id: string): Promise<RunView> {
    const command = { type: 'cancel_runs', namespace, ids: [id] } as const;
    const slot = this.parts.server.execute(command, ({ outcomes: [{ rejection, slot }] }) => {
      if (rejection !== undefined) throw runRefusal(rejection, id);
      return slot;
    });
    return this.view(slot);
  }

  async pauseRun(id: string): Promise<RunView> {
    return this.setPaused(id, true);
  }

  async resumeRun(id: string): Promise<RunView> {
    return this.setPaused(id, false);
  }

  async completeStep(id: string, step: string, output: unknown): Promise<RunView> {
    const payload = encoded(output, '/output');
    return this.endStep(id, { reference: step, operation: 'complete', payload, message: '' });
  }

  async skipStep(id: string, step: string): Promise<RunView> {
    const payload = new Uint8Array(0);
    return this.endStep(id, { reference: step, operation: 'skip', payload, message: '' });
  }

  async failStep(id: string, step: string, error: TaskError): Promise<RunView> {
    check('FailStepRequest', { error });
    const payload = encoded(error, '/error');
    const { message } = error;
    return this.endStep(id, { reference: step, operation: 'fail', payload, message });
  }

  async retryRun(id: string): Promise<RunView> {
    return this.revive(id, { operation: 'retry' });
  }

  async restartRun(id: string): Promise<RunView> {
    return this.revive(id, { operation: 'restart' });
  }

  async rerunRun(id: string, { fromStep, input }: RerunFrom): Promise<RunView> {
    return this.revive(id, { operation: 'rerun', fromStep, input });
  }

  private revive(id: string, { operation, fromStep: reference = '', input }: Revival): RunView {
    const bytes = input === undefined ? new Uint8Array(0) : encoded(input, '/input');
    const command = { type: 'revive_run', namespace, id, operation, reference } as const;
    const slot = this.parts.server.execute({ ...command, input: bytes }, (reply, state) => {
      if (reply.rejection === 'step_not_found') {
        throw stepRefusal(reply.rejection, state, { run: reply.slot, reference });
      }
      if (reply.rejection !== undefined) throw revivalRefusal(reply.rejection, id, reference);
      return reply.slot;
    });
    return this.view(slot);
  }

  private setPaused(id: string, isPause: boolean): RunView {
    const command = { type: 'pause_runs', namespace, ids: [id], isPause } as const;
    const slot = this.parts.server.execute(command, ({ outcomes: [{ rejection, slot }] }) => {
      if (rejection !== undefined) throw runRefusal(rejection, id);
      return slot;
    });
    return this.view(slot);
  }

  private endStep(id: string, end: StepEnd): RunView {
    const command = { type: 'operate_step', namespace, id, ...end } as const;
    const slot = this.parts.server.execute(command, ({ rejection, slot }, state) => {
      if (rejection === 'step_not_found' || rejection === 'step_not_waiting') {
        throw stepRefusal(rejection, state, { run: slot, reference: end.reference });
      }
      if (rejection === 'too_many_tasks') throw revivalRefusal(rejection, id, end.reference);
      if (rejection !== undefined) throw runRefusal(rejection, id);
      return slot;
    });
    return this.view(slot);
  }

  async listRuns({ limit, cursor, ...query }: RunQuery & PageOptions): Promise<Page<RunSummary>> {
    const { state } = this.parts.server.partition;
    const { table } = state.runs;
    const sent = sentFilter<RunQuery>(query);
    const { tags: _, ...named } = sent;
    check('RunListQuery', { ...named, ...pageFields({ limit, cursor }) });
    checkTimes(sent, '', 'the query string is not valid');
    const slots = Array.from({ length: table.used }, (_, slot) => slot as Slot);
    const runs = slots.filter((slot) => table.number[slot] !== 0);
    const found = runs.filter((slot) => isMeant(runSummary(state, slot), sent));
    const placed = found.map((slot) => ({
      // Newest first.
      place: sortable(Number.MAX_SAFE_INTEGER - table.number[slot]),
      show: () => runSummary(state, slot),
    }));
    return this.page(placed, { limit, cursor });
  }

  async listSteps(id: string, page: PageOptions): Promise<Page<StepView>> {
    const steps = stepViews(this.parts.server, this.slotOf(id));
    return this.page(
      steps.map((step, place) => ({ place: sortable(place + 1), show: () => step })),
      page,
    );
  }

  async putWorkflow(
    definition: WorkflowJson,
    { dryRun = false }: PutWorkflowOptions,
  ): Promise<WorkflowChange> {
    const { name, version } = definition;
    check('VersionParams', { name, version });
    const text = definitionText(definition);
    const { hash } = text;
    const { server } = this.parts;
    const before = server.partition.state.programs.version(namespace, name, version);
    const isChanged = before?.hash !== hash;
    if (isChanged && before?.wasUsed) {
      const todo = `register the definition as version ${version + 1}`;
      const what = `version ${version} of '${name}' has had runs and cannot change`;
      throw refusal(409, 'version_in_use', `${what}; ${todo}`);
    }
    if (!dryRun) {
      const command = { type: 'put_workflow', namespace, name, version, definition: text } as const;
      server.execute(command, ({ rejection }) => {
        if (rejection !== undefined) throw refusal(429, rejection, `refused: ${rejection}`);
      });
    }
    const change = before === undefined ? 'new' : isChanged ? 'changed' : 'unchanged';
    return { name, version, hash, change, dryRun, warnings: [] };
  }

  async listWorkflows(page: PageOptions): Promise<Page<WorkflowView>> {
    const names = new Set(this.registered().map(({ name }) => name));
    return this.page(
      [...names].map((name) => ({ place: name, show: () => this.workflow(name) })),
      page,
    );
  }

  async getWorkflow(name: string): Promise<WorkflowView> {
    check('WorkflowParams', { name });
    return this.workflow(name);
  }

  async getVersion(name: string, version: number): Promise<WorkflowVersionView> {
    check('VersionParams', { name, version });
    const found = this.registered().find((each) => each.name === name && each.version === version);
    if (found === undefined) throw workflowNotFound(name, version);
    return { name, ...versionView(found), definition: JSON.parse(found.text) };
  }

  async deleteVersion(name: string, version: number): Promise<void> {
    check('VersionParams', { name, version });
    const command = { type: 'delete_workflow', namespace, name, version } as const;
    this.parts.server.execute(command, ({ rejection }) => {
      if (rejection !== undefined) throw workflowNotFound(name, version);
    });
  }

  private workflow(name: string): WorkflowView {
    const versions = this.registered().filter((each) => each.name === name);
    if (versions.length === 0) throw workflowNotFound(name);
    return { name, versions: versions.reverse().map(versionView) };
  }

  private registered(): StoredProgram[] {
    return this.parts.server.partition.state.programs.registered(namespace);
  }

  private page<T>(items: readonly Placed<T>[], page: AskedPage): Page<T> {
    check('ListQuery', pageFields(page));
    return pageOf(items, pageFields(page), this.parts.server.now);
  }

  private view(slot: Slot): RunView {
    return runView(this.parts.server, slot, (blob) => this.parts.blobs.read(blob));
  }

  private slotOf(id: string): Slot {
    const slot = findRun(this.parts.server.partition.state, namespace, id);
    if (slot === NO_SLOT) throw runNotFound(id);
    return slot;
  }
}
