import { BASE32_LENGTH, parseBase32, toBase32, writeBase32 } from './base32.ts';
import type { TaskNumber } from './ids.ts';

/**
 * The text form of a task's identity: `t_`, the time of the submit (48 bits), the partition (12
 * bits) and the task's number (36 bits). Ids sort by time and contain their partition for routing.
 */
export interface TaskKey {
  readonly submittedAt: number;
  readonly partition: number;
  readonly number: TaskNumber;
}

const NUMBERS_PER_PARTITION = 2 ** 36;
const TIME_LIMIT = 2 ** 48;

export const TASK_ID_LENGTH = 2 + 2 * BASE32_LENGTH;

export function taskIdText(key: TaskKey): string {
  return `t_${toBase32(key.submittedAt)}${toBase32(tail(key))}`;
}

/** Writes `TASK_ID_LENGTH` bytes at `at`. */
export function writeTaskId(bytes: Uint8Array, at: number, key: TaskKey): void {
  bytes[at] = 0x74;
  bytes[at + 1] = 0x5f;
  writeBase32(bytes, at + 2, key.submittedAt);
  writeBase32(bytes, at + 2 + BASE32_LENGTH, tail(key));
}

/** `undefined` when the text cannot be the id of any task. */
export function parseTaskId(text: string): TaskKey | undefined {
  if (text.length !== TASK_ID_LENGTH || !text.startsWith('t_')) return undefined;
  const submittedAt = parseBase32(text, 2);
  const tailBits = parseBase32(text, 2 + BASE32_LENGTH);
  if (submittedAt < 0 || submittedAt >= TIME_LIMIT) return undefined;
  if (tailBits < 0 || tailBits >= NUMBERS_PER_PARTITION * 4096) return undefined;
  return {
    submittedAt,
    partition: Math.floor(tailBits / NUMBERS_PER_PARTITION),
    number: (tailBits % NUMBERS_PER_PARTITION) as TaskNumber,
  };
}

function tail(key: TaskKey): number {
  return key.partition * NUMBERS_PER_PARTITION + key.number;
}
