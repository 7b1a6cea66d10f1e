import type { TaskTable } from './task-table.ts';

/** A payload of each task: where the arena keeps it, and how long it is. */
interface PayloadColumn {
  readonly name: string;
  readonly references: Float64Array;
  readonly lengths: Uint32Array;
}

/** Every column of payloads. */
export function payloadColumns(tasks: TaskTable): readonly PayloadColumn[] {
  return [
    { name: 'input', references: tasks.input, lengths: tasks.inputLength },
    { name: 'result', references: tasks.result, lengths: tasks.resultLength },
  ];
}
