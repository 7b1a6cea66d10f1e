import type { AnyTask } from '../task/define-task.ts';
import type { TaskDefaults } from '../task/task-options.ts';
import type { Scope } from './scope.ts';

/** What a step says of its task. What it leaves out comes from the definition of the task. */
export interface StepOptions<MayFail extends boolean = boolean>
  extends Pick<
    TaskDefaults,
    'resources' | 'constraints' | 'placement' | 'retry' | 'timeouts' | 'tags'
  > {
  /** If the step fails, the run goes on, and the output of the step is null. */
  readonly optional?: MayFail;
  /**
   * If the step fails, the other steps go on, the output of the step is null, and the run fails at
   * its end.
   */
  readonly permissive?: MayFail;
  /** Seconds before the task of the step may start. */
  readonly startDelay?: number;
  /** Retries after the first attempt; the short form of `retry.maxAttempts`. */
  readonly retryCount?: number;
}

/** The options of the step in its definition. Those of the task are a part of it. */
export function optionsJson(
  scope: Scope,
  task: AnyTask | string,
  { name, options }: { readonly name: string; readonly options: StepOptions },
): object {
  const { retryCount, retry, ...others } = options;
  const { resources, constraints, placement, timeouts, tags, retry: ofTask } = defaultsOf(task);
  if (retryCount !== undefined && retry !== undefined) {
    const what = `step '${name}' has both retryCount and retry`;
    throw scope.draft.error(`${what}; use retry.maxAttempts`);
  }
  // `retry` counts for more than `retryCount`, so that of the task must not stand beside it.
  const retries = retryCount === undefined ? (retry ?? ofTask) : { maxAttempts: retryCount + 1 };
  const delays = retryCount === undefined ? {} : withoutCounts(ofTask);
  const json = {
    resources,
    constraints,
    placement,
    timeouts,
    tags,
    retry: retries === undefined ? undefined : { ...delays, ...retries },
    ...stated(others),
  };
  return scope.plain(json, `the options of step '${name}'`) as object;
}

function defaultsOf(task: AnyTask | string): TaskDefaults {
  return typeof task === 'string' ? {} : task;
}

/** How long to wait between attempts, without how many there are. */
function withoutCounts(retry: TaskDefaults['retry'] = {}): TaskDefaults['retry'] {
  const { maxAttempts: _, delaysMs: __, ...delays } = retry;
  return delays;
}

/** Without fields that are undefined. */
export function stated(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
