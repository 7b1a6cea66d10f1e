import type { QuotaName, ReadmitTaskReply, ReadonlyState, RetryOutcome } from '@sluice/core';
import { SluiceError } from '@sluice/protocol';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import { taskNotFound } from './read-task.ts';

type Refusal =
  | 'task_not_found'
  | 'task_running'
  | 'task_finished'
  | 'task_not_finished'
  | 'task_not_leased'
  | 'task_of_run'
  | 'worker_unreachable'
  | 'too_many_tags'
  | 'too_many_tasks'
  | 'too_many_types'
  | 'too_many_bytes';

/** Only a task that did not succeed can be retried. */
function hasSucceeded(id: string): SluiceError {
  return new SluiceError('task_finished', `task '${id}' has succeeded, so it cannot be retried`);
}

interface RefusedRetry {
  readonly rejection: RetryRefusal;
  /** The one that is exceeded. */
  readonly quota: QuotaName | undefined;
}

type RetryRefusal = NonNullable<(RetryOutcome | ReadmitTaskReply)['rejection']>;

/** The API error for a retry that the core refused. */
export function retryRefusal(
  id: string,
  { rejection, quota = 'tasksMax' }: RefusedRetry,
  { limits }: Pick<ReadonlyState, 'limits'>,
): SluiceError {
  if (rejection === 'task_finished') return hasSucceeded(id);
  if (rejection === 'quota_exceeded') return quotaExceeded(quota, limits.quotas?.[quota]);
  return refusalOf(rejection, id);
}

/** The API error for an operation that the core refused. */
export function refusalOf(refusal: Refusal, id: string): SluiceError {
  switch (refusal) {
    case 'task_not_found':
      return taskNotFound(id);
    case 'task_running':
      return new SluiceError(refusal, `a worker holds task '${id}'; cancel it or wait`);
    case 'task_finished':
      return new SluiceError(refusal, `task '${id}' has ended`);
    case 'task_not_finished':
      return new SluiceError(refusal, `task '${id}' has not ended yet`);
    case 'task_not_leased':
      return new SluiceError(refusal, `no worker holds task '${id}'`);
    case 'task_of_run': {
      const why =
        'is a step of a run, so it cannot be retried by itself; see the runId of the task';
      return new SluiceError(refusal, `task '${id}' ${why}`);
    }
    case 'worker_unreachable':
      return new SluiceError(refusal, `the worker that holds task '${id}' is not connected`);
    case 'too_many_tags': {
      const details = [{ path: '/tags', problem: 'must be at most 32 in total' }];
      return new SluiceError('invalid_request', '/tags must be at most 32 in total', { details });
    }
    case 'too_many_tasks':
    case 'too_many_types':
      return overloaded('the server holds the maximum number of tasks');
    case 'too_many_bytes':
      return overloaded('inputs and results use too much memory');
  }
}
