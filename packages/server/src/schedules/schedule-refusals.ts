import type { FireReason, ReadonlyState } from '@sluice/core';
import { SluiceError } from '@sluice/protocol';
import { invalid } from '../base/validation.ts';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import { scheduleNotFound } from './find-schedule.ts';

/** The error for a change or call that the core refused. */
export function changeRefusal(rejection: string, id: string, state: ReadonlyState): SluiceError {
  switch (rejection) {
    case 'schedule_not_found':
      return scheduleNotFound(id);
    case 'never_fires': {
      const problem = 'has no time from now on: check the pattern, the window and the time zone';
      return invalid('the schedule would never fire', [{ path: '/spec', problem }]);
    }
    case 'quota_exceeded':
      return quotaExceeded('schedulesMax', state.limits.quotas?.schedulesMax);
    case 'schedule_is_permanent':
      return new SluiceError('schedule_is_permanent', `'${id}' is permanent and has no times`);
    case 'backfill_running': {
      const todo = `stop it with DELETE /v1/schedules/${id}/backfill, or wait`;
      return new SluiceError('backfill_running', `a backfill of '${id}' is running; ${todo}`);
    }
    case 'schedule_changed':
      return overloaded(`'${id}' is changed by others all the time`);
    default:
      return overloaded(`there is no room for '${id}': ${rejection.replaceAll('_', ' ')}`);
  }
}

/** The error for a fire that made nothing. */
export function fireRefusal(reason: FireReason, id: string, state: ReadonlyState): SluiceError {
  switch (reason) {
    case 'workflow_not_found':
      return new SluiceError('workflow_not_found', `the workflow of '${id}' is not registered`);
    case 'quota_exceeded':
      return quotaExceeded('tasksMax', state.limits.quotas?.tasksMax);
    case 'unfit_input':
      return invalid(`the input of '${id}' does not fit its workflow`, [
        { path: '/run/input', problem: 'does not fit the input schema of the workflow' },
      ]);
    default:
      return overloaded('there is no room for another task');
  }
}
