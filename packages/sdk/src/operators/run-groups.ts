import { traced } from '../calls/traced.ts';
import type { TaskError } from '../task/task-view.ts';
import type { RunSummary, StepView, WorkflowChange, WorkflowView } from '../workflow/run-types.ts';
import type { RunView, WorkflowVersionView } from '../workflow/run-view.ts';
import type { AnyWorkflow, WorkflowJson } from '../workflow/workflow.ts';
import { eachItem, type Page, type PageOptions } from './pages.ts';
import type { PutWorkflowOptions, RunPort, RunQuery } from './run-port.ts';

/** A run by its id, or by its handle. */
export type RunReference = string | { readonly id: string };

function idOf(run: RunReference): string {
  return typeof run === 'string' ? run : run.id;
}

/** An error. Only its message is needed. */
export function errorFrom(error: string | TaskError): TaskError {
  return typeof error === 'string' ? { message: error } : error;
}

/** Calls about any run, also of other clients. */
export class RunGroup {
  private readonly port: RunPort;

  /** Made by the client. */
  constructor(port: RunPort) {
    this.port = port;
  }

  /** All runs that match, newest first, page by page. */
  list(query: RunQuery = {}): AsyncIterableIterator<RunSummary, void, undefined> {
    return eachItem((options) => this.page({ ...query, ...options }));
  }

  /** One page of the runs that match, newest first. */
  page(query: RunQuery & PageOptions = {}): Promise<Page<RunSummary>> {
    return traced(this.port.listRuns(query));
  }

  /** One run, with its output and its first 1,000 steps. */
  get<Output = unknown>(run: RunReference): Promise<RunView<Output>> {
    return traced(this.port.getRun(idOf(run))) as Promise<RunView<Output>>;
  }

  /** All steps of a run, in the order of the definition. */
  steps(run: RunReference): AsyncIterableIterator<StepView, void, undefined> {
    return eachItem((options) => traced(this.port.listSteps(idOf(run), options)));
  }

  /**
   * Cancels a run. Throws a `SluiceError` with code `run_finished` when it had ended another way
   * before.
   */
  cancel(run: RunReference): Promise<RunView> {
    return traced(this.port.cancelRun(idOf(run)));
  }

  /** No step begins until `resume`. Tasks under way go on. */
  pause(run: RunReference): Promise<RunView> {
    return traced(this.port.pauseRun(idOf(run)));
  }

  /** Lets a paused run go on. Its `timeoutSeconds` begin again. */
  resume(run: RunReference): Promise<RunView> {
    return traced(this.port.resumeRun(idOf(run)));
  }

  /**
   * Lets a run that did not succeed go on: what failed or was stopped begins again. Throws a
   * `SluiceError` with code `run_not_finished` while it runs, and `run_not_kept` when its steps are
   * no longer in memory.
   */
  retry(run: RunReference): Promise<RunView> {
    return traced(this.port.retryRun(idOf(run)));
  }

  /** Begins an ended run again from its first step, with the same input. */
  restart(run: RunReference): Promise<RunView> {
    return traced(this.port.restartRun(idOf(run)));
  }

  /** Begins an ended run again from a step, which may get another input. */
  rerun(run: RunReference, fromStep: string, input?: unknown): Promise<RunView> {
    const from = { fromStep, ...(input === undefined ? {} : { input }) };
    return traced(this.port.rerunRun(idOf(run), from));
  }

  /**
   * Ends a step that runs, with an output. In a loop `approve` is the newest iteration, and
   * `approve__2` the second. Throws a `SluiceError` with code `step_not_waiting` when the step does
   * not run now.
   */
  complete(run: RunReference, step: string, output: unknown = null): Promise<RunView> {
    return traced(this.port.completeStep(idOf(run), step, output));
  }

  /** Passes over a step that failed: its run goes on after it. */
  skip(run: RunReference, step: string): Promise<RunView> {
    return traced(this.port.skipStep(idOf(run), step));
  }

  /** Ends a step that runs, without success. */
  fail(run: RunReference, step: string, error: string | TaskError): Promise<RunView> {
    return traced(this.port.failStep(idOf(run), step, errorFrom(error)));
  }
}

/** Calls about the definitions of workflows. */
export class WorkflowGroup {
  private readonly port: RunPort;

  /** Made by the client. */
  constructor(port: RunPort) {
    this.port = port;
  }

  /**
   * Registers a version of a workflow, or of a definition as JSON. The same definition again
   * changes nothing. Throws a `SluiceError` with code `version_in_use` when the version had a run
   * of another definition, and `invalid_definition` with every problem of the definition.
   */
  put(
    workflow: AnyWorkflow | WorkflowJson,
    options: PutWorkflowOptions = {},
  ): Promise<WorkflowChange> {
    const definition = 'definition' in workflow ? workflow.definition : workflow;
    return traced(this.port.putWorkflow(definition, options));
  }

  /** All workflows with their versions. */
  list(): AsyncIterableIterator<WorkflowView, void, undefined> {
    return eachItem((options) => this.page(options));
  }

  /** One page of the workflows. */
  page(options: PageOptions = {}): Promise<Page<WorkflowView>> {
    return traced(this.port.listWorkflows(options));
  }

  /** The versions of a workflow, newest first. */
  get(name: string): Promise<WorkflowView> {
    return traced(this.port.getWorkflow(name));
  }

  /** One version, with its definition. */
  version(name: string, version: number): Promise<WorkflowVersionView> {
    return traced(this.port.getVersion(name, version));
  }

  /** Deletes a version. Its runs go on. */
  delete(name: string, version: number): Promise<void> {
    return traced(this.port.deleteVersion(name, version));
  }
}
