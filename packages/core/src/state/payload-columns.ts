import type { PayloadColumn } from '../structures/arena.ts';
import type { Runs } from './runs/runs.ts';
import type { Schedules } from './schedules/schedules.ts';
import type { TaskTable } from './task-table.ts';

export const INPUT_PAYLOAD = 0;
export const RESULT_PAYLOAD = 1;
export const RUN_INPUT_PAYLOAD = 2;
export const RUN_OUTPUT_PAYLOAD = 3;
export const VARIABLES_PAYLOAD = 4;
export const STEP_OUTPUT_PAYLOAD = 5;
export const STEP_INPUT_PAYLOAD = 6;
export const SCHEDULE_PAYLOAD = 7;

/** The columns of each table. */
export const TASK_PAYLOADS = [INPUT_PAYLOAD, RESULT_PAYLOAD];
export const RUN_PAYLOADS = [RUN_INPUT_PAYLOAD, RUN_OUTPUT_PAYLOAD, VARIABLES_PAYLOAD];
export const STEP_PAYLOADS = [STEP_OUTPUT_PAYLOAD, STEP_INPUT_PAYLOAD];

/**
 * The payload columns of tasks, at the indexes that the constants above name. The arena moves their
 * payloads when it compacts, snapshots save them, and a forgotten task releases them.
 */
export function taskPayloads(tasks: TaskTable): readonly PayloadColumn[] {
  return [
    { name: 'input', references: tasks.input, lengths: tasks.inputLength },
    { name: 'result', references: tasks.result, lengths: tasks.resultLength },
  ];
}

/** Those of runs. */
export function runPayloads({ table }: Runs): readonly PayloadColumn[] {
  return [
    { name: 'runInput', references: table.input, lengths: table.inputLength },
    { name: 'runOutput', references: table.output, lengths: table.outputLength },
    { name: 'variables', references: table.variables, lengths: table.variablesLength },
  ];
}

/** Those of steps. */
export function stepPayloads({ steps }: Runs): readonly PayloadColumn[] {
  return [
    { name: 'stepOutput', references: steps.output, lengths: steps.outputLength },
    { name: 'stepInput', references: steps.input, lengths: steps.inputLength },
  ];
}

/** Those of schedules. */
export function schedulePayloads({ table }: Schedules): readonly PayloadColumn[] {
  return [{ name: 'schedule', references: table.definition, lengths: table.definitionLength }];
}
