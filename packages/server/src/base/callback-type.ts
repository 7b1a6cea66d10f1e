import { type ReadonlyState, RUN_DELIVERIES, TASK_STATES, taskTypeOf } from '@sluice/core';

/** Only the task of a CALLBACK step has a delivery for this state. */
const OF_STEP = TASK_STATES.indexOf('queued');

/** What a delivery is about, as its message and the API name it. */
export function callbackType(state: number): string {
  return state === OF_STEP ? 'run.callback' : `task.${TASK_STATES[state]}`;
}

/** Whether the delivery is about the end of a run. */
export function isOfRun({ queues }: ReadonlyState, { queue }: { readonly queue: number }): boolean {
  return taskTypeOf(queues[queue].key) === RUN_DELIVERIES;
}

export function runCallbackType(state: number): string {
  return `run.${TASK_STATES[state]}`;
}

export function isOfStep(state: number): boolean {
  return state === OF_STEP;
}
