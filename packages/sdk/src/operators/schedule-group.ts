import { traced } from '../calls/traced.ts';
import { type AnyTask, type TaskDefinition, taskBody } from '../task/define-task.ts';
import type { AnyWorkflow, Workflow } from '../workflow/workflow.ts';
import { eachItem, type Page, type PageOptions } from './pages.ts';
import type {
  ScheduleBatchItem,
  ScheduleBatchResult,
  SchedulePatch,
  SchedulePort,
  ScheduleQuery,
} from './schedule-port.ts';
import type {
  BackfillAnswer,
  BackfillRequest,
  FireView,
  ScheduleChange,
  ScheduleExplanation,
  ScheduleRequest,
  ScheduleSpec,
  ScheduleView,
} from './schedule-types.ts';

type Task = NonNullable<ScheduleRequest['task']>;
type Run = NonNullable<ScheduleRequest['run']>;

/** How a schedule behaves beside its times. */
export interface ScheduleOptions extends Omit<ScheduleRequest, 'spec' | 'task' | 'run'> {
  /** Options of the tasks that it submits; they override those of the definition. */
  readonly task?: Omit<Task, 'type' | 'input'>;
  /** Options of the runs that it starts. */
  readonly run?: Omit<Run, 'workflow' | 'input'>;
  /** Only checks it and says when it would fire. */
  readonly dryRun?: boolean;
}

/** Changes that one request may have. */
const BATCH_MAX = 1000;

/** A workflow that is defined elsewhere, by its name. */
export interface NamedWorkflow {
  readonly workflow: string;
}

/** Calls about schedules. */
export class ScheduleGroup {
  private readonly port: SchedulePort;

  /** Made by the client. */
  constructor(port: SchedulePort) {
    this.port = port;
  }

  /**
   * Creates or replaces a schedule; the same call again changes nothing, so it may stand at the
   * start of a program. It submits a task (a definition, or the name of a type) or starts a run (a
   * workflow, or `{ workflow: 'name' }`) with this input.
   *
   * In strings of the input, `{{scheduledAt}}`, `{{firedAt}}`, `{{scheduleId}}` and
   * `{{fireNumber}}` are replaced. A workflow has to be registered.
   */
  put<Input = unknown, Output = unknown>(
    id: string,
    spec: ScheduleSpec,
    work: TaskDefinition<Input, Output> | Workflow<Input, Output> | NamedWorkflow | string,
    input: NoInfer<Input>,
    options?: ScheduleOptions,
  ): Promise<ScheduleChange>;
  /** Creates or replaces a schedule of a task or workflow that needs no input. */
  put<Output = unknown>(
    id: string,
    spec: ScheduleSpec,
    work: TaskDefinition<undefined, Output> | Workflow<undefined, Output> | NamedWorkflow | string,
  ): Promise<ScheduleChange>;
  put(
    id: string,
    spec: ScheduleSpec,
    work: AnyTask | AnyWorkflow | NamedWorkflow | string,
    input?: unknown,
    { task, run, dryRun = false, ...choices }: ScheduleOptions = {},
  ): Promise<ScheduleChange> {
    const made = isWorkflow(work)
      ? { run: { ...runOf(work), ...(input === undefined ? {} : { input }), ...run } }
      : { task: taskBody(work, input, task ?? {}) as Task };
    return traced(this.port.putSchedule(id, { spec, ...made, ...choices }, dryRun));
  }

  /** Changes parts of a schedule: absent fields stay, null clears. */
  patch(id: string, changes: SchedulePatch): Promise<ScheduleView> {
    return traced(this.port.patchSchedule(id, changes));
  }

  /** Deletes a schedule. Its replicas are stopped; what it made goes on. */
  delete(id: string): Promise<void> {
    return traced(this.port.deleteSchedule(id));
  }

  /**
   * Applies many changes in order, each wholly or not at all: the result of each says what became
   * of it. More than 1,000 are sent in several requests.
   */
  async changeMany(changes: readonly ScheduleBatchItem[]): Promise<ScheduleBatchResult[]> {
    const results: ScheduleBatchResult[] = [];
    for (let from = 0; from < changes.length; from += BATCH_MAX) {
      const part = changes.slice(from, from + BATCH_MAX);
      results.push(...(await traced(this.port.changeSchedules(part))));
    }
    return results;
  }

  get(id: string): Promise<ScheduleView> {
    return traced(this.port.getSchedule(id));
  }

  /** All schedules that match, page by page. */
  list(query: ScheduleQuery = {}): AsyncIterableIterator<ScheduleView, void, undefined> {
    return eachItem((options) => this.page({ ...query, ...options }));
  }

  /** One page of the schedules that match. */
  page(query: ScheduleQuery & PageOptions = {}): Promise<Page<ScheduleView>> {
    return traced(this.port.listSchedules(query));
  }

  /** It does not fire until `resume`, and its replicas are stopped. */
  pause(id: string): Promise<ScheduleView> {
    return traced(this.port.pauseSchedule(id, true));
  }

  /** It goes on with its next time. Times missed during the pause are skipped. */
  resume(id: string): Promise<ScheduleView> {
    return traced(this.port.pauseSchedule(id, false));
  }

  /** Fires it now. Its times stay as they are. */
  trigger(id: string): Promise<FireView> {
    return traced(this.port.triggerSchedule(id));
  }

  /** Its next times. */
  preview(id: string, count = 10): Promise<readonly string[]> {
    return traced(this.port.previewSchedule(id, count));
  }

  /** Fires it at all times of a past range, at a limited rate. */
  backfill(id: string, request: BackfillRequest): Promise<BackfillAnswer> {
    return traced(this.port.backfillSchedule(id, request));
  }

  stopBackfill(id: string): Promise<void> {
    return traced(this.port.stopBackfill(id));
  }

  /** What it made, newest first. */
  fires(id: string): AsyncIterableIterator<FireView, void, undefined> {
    return eachItem((options) => traced(this.port.listFires(id, options)));
  }

  /** Why it has not fired, or when it will. */
  explain(id: string): Promise<ScheduleExplanation> {
    return traced(this.port.explainSchedule(id));
  }
}

type Work = AnyTask | AnyWorkflow | NamedWorkflow | string;

function isWorkflow(work: Work): work is AnyWorkflow | NamedWorkflow {
  return typeof work !== 'string' && ('workflow' in work || 'definition' in work);
}

function runOf(work: AnyWorkflow | NamedWorkflow): Run {
  if ('workflow' in work) return { workflow: work.workflow };
  return { workflow: work.name, version: work.version };
}
