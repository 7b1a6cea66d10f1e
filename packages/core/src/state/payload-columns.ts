import type { PayloadColumn } from '../structures/arena.ts';
import type { TaskTable } from './task-table.ts';

export const INPUT_PAYLOAD = 0;
export const RESULT_PAYLOAD = 1;

/**
 * Every column of payloads, at the place that the constants above name. What is listed here is
 * moved by the arena when it makes room, saved in snapshots, and released when its task is
 * forgotten.
 */
export function payloadColumns(tasks: TaskTable): readonly PayloadColumn[] {
  return [
    { name: 'input', references: tasks.input, lengths: tasks.inputLength },
    { name: 'result', references: tasks.result, lengths: tasks.resultLength },
  ];
}
