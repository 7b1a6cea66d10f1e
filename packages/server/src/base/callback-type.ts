import { TASK_STATES } from '@sluice/core';

/** Only the task of a CALLBACK step has a delivery for this state. */
const OF_STEP = TASK_STATES.indexOf('queued');

/** What a delivery is about, as its message and the API name it. */
export function callbackType(state: number): string {
  return state === OF_STEP ? 'run.callback' : `task.${TASK_STATES[state]}`;
}

export function isOfStep(state: number): boolean {
  return state === OF_STEP;
}
