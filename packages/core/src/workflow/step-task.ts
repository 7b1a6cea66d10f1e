import type { RetryPolicy } from '../task/retry-policy.ts';
import type { TaskSpec } from '../task/task-spec.ts';
import type { Timeouts } from '../task/timeouts.ts';
import { isObject, type Place, type Problems } from './problems.ts';

/** Seconds in a hundred years: no timeout or delay is longer. */
export const SECONDS_MAX = 3_155_760_000;
const RETRIES_MAX = 999;

export const TASK_TYPE = /^(?!(?:command|container)$)[A-Za-z0-9._:-]{1,128}$/;

const BACKOFFS: Readonly<Record<string, RetryPolicy['backoff']>> = {
  FIXED: 'fixed',
  LINEAR_BACKOFF: 'linear',
  EXPONENTIAL_BACKOFF: 'exponential',
};

/** Options that are called alike in a step, in a task definition and in a submit. */
const OWN_NAMES = ['resources', 'constraints', 'placement', 'retry', 'timeouts', 'tags'] as const;

/**
 * What a step says of its task: in our names, or in those of Conductor. The step itself comes
 * before its `taskDefinition`.
 */
export function stepTask(problems: Problems, here: Place, name: string): TaskSpec {
  if (name !== '' && !TASK_TYPE.test(name)) {
    const what = 'a task type has letters, digits and . _ : - and at most 128 of them';
    problems.add(`${here.path}/name`, 'bad_field', `"${name}" cannot be used: ${what}`);
  }
  const given = here.value.taskDefinition;
  return {
    type: name,
    ...conductorOptions(problems, here),
    ...(isObject(given) ? ownOptions(given) : {}),
    ...ownOptions(here.value),
  };
}

/** What a step and its `taskDefinition` say in the names of Conductor. */
export function conductorOptions(
  problems: Problems,
  here: Place,
): Pick<TaskSpec, 'retry' | 'timeouts'> {
  const { taskDefinition: value } = here.value;
  // Most have none, and a fork may have thousands of branches.
  const inner = isObject(value) ? { value, path: `${here.path}/taskDefinition` } : undefined;
  const outer = inner === undefined ? {} : conductorRetry(problems, inner);
  const retry = { ...outer, ...conductorRetry(problems, here) };
  const timeouts = inner === undefined ? {} : conductorTimeouts(problems, inner);
  return {
    ...(Object.keys(retry).length > 0 ? { retry } : {}),
    ...(Object.keys(timeouts).length > 0 ? { timeouts } : {}),
  };
}

/** The server has checked them against their schemas. */
function ownOptions(value: Place['value']): Partial<TaskSpec> {
  const stated = OWN_NAMES.filter((name) => value[name] !== undefined && value[name] !== null);
  return Object.fromEntries(stated.map((name) => [name, value[name]]));
}

function conductorRetry(problems: Problems, here: Place): RetryPolicy {
  const { value, path } = here;
  const count = problems.count(here, 'retryCount', RETRIES_MAX);
  const delay = problems.count(here, 'retryDelaySeconds', SECONDS_MAX);
  const most = problems.count(here, 'maxRetryDelaySeconds', SECONDS_MAX);
  const logic = value.retryLogic ?? undefined;
  const backoff = BACKOFFS[String(logic)];
  if (logic !== undefined && backoff === undefined) {
    const known = `one of ${Object.keys(BACKOFFS).join(', ')}`;
    problems.add(`${path}/retryLogic`, 'bad_field', `retryLogic must be ${known}`);
  }
  return {
    ...(count === undefined ? {} : { maxAttempts: count + 1 }),
    ...(backoff === undefined ? {} : { backoff }),
    ...(delay === undefined ? {} : { delayMs: delay * 1000 }),
    ...(most === undefined || most === 0 ? {} : { maxDelayMs: most * 1000 }),
  };
}

const TIMEOUT_NAMES = {
  timeoutSeconds: 'runMs',
  responseTimeoutSeconds: 'heartbeatMs',
  pollTimeoutSeconds: 'queueMs',
  totalTimeoutSeconds: 'totalMs',
} as const;

/** 0 stands for no limit. */
function conductorTimeouts(problems: Problems, here: Place): Timeouts {
  const stated = Object.entries(TIMEOUT_NAMES).flatMap(([field, name]) => {
    const seconds = problems.count(here, field, SECONDS_MAX) ?? 0;
    return seconds === 0 ? [] : [[name, seconds * 1000]];
  });
  return Object.fromEntries(stated);
}
