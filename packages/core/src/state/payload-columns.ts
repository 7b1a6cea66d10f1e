import type { PayloadColumn } from '../structures/arena.ts';
import type { TaskTable } from './task-table.ts';

export const INPUT_PAYLOAD = 0;
export const RESULT_PAYLOAD = 1;

/**
 * All payload columns, at the indexes that the constants above name. The arena moves their payloads
 * when it compacts, snapshots save them, and a forgotten task releases them.
 */
export function payloadColumns(tasks: TaskTable): readonly PayloadColumn[] {
  return [
    { name: 'input', references: tasks.input, lengths: tasks.inputLength },
    { name: 'result', references: tasks.result, lengths: tasks.resultLength },
  ];
}
