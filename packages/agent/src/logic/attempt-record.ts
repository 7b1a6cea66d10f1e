import type { Resources } from '@sluice/sdk';
import { isObject } from './exec-fields.ts';

/** A task as an agent that starts later needs it. */
interface RecordedTask {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly lease: string;
  readonly resources: Resources;
  readonly exec?: unknown;
}

/** What an agent writes down before it starts a program. */
export interface AttemptRecord {
  /** Names the folder, the group and the container. */
  readonly name: string;
  readonly task: RecordedTask;
  readonly gpus: readonly string[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** Undefined when the text is torn, or was written by an agent with other ideas. */
export function readRecord(name: string, text: string): AttemptRecord | undefined {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(record) || record.name !== name) return undefined;
  const { task, gpus, startedAt } = record;
  if (!isObject(task) || !Array.isArray(gpus) || typeof startedAt !== 'number') return undefined;
  const { id, type, attempt, lease, resources } = task;
  const areTexts = [id, type, lease].every((value) => typeof value === 'string' && value !== '');
  if (!areTexts || !Number.isSafeInteger(attempt) || !isObject(resources)) return undefined;
  return record as unknown as AttemptRecord;
}
