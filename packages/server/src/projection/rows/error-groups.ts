import { createHash } from 'node:crypto';
import { REASONS, type TaskNumber, taskIdText, taskTypeOf } from '@sluice/core';
import { timeText } from '../../base/time-text.ts';
import type { TaskRecord } from '../records/task-record.ts';

/**
 * Maximum number of groups. Further errors are counted together, because longer lists are useless.
 */
const GROUPS_MAX = 1000;

const FINGERPRINT_CHARACTERS = 12;
const MESSAGE_CHARACTERS_MAX = 300;
const PARTITION = 0;

/** Dead letters of one type with the same kind of error. */
interface ErrorGroup {
  readonly fingerprint: string;
  readonly type: string;
  count: number;
  /** Message and id of the task that ended last. */
  message: string;
  taskId: string;
  firstEndedAt: string;
  lastEndedAt: string;
  /** Tasks that ended in each of the last 24 hours, the current hour last. */
  readonly endedByHour: number[];
}

export interface ErrorGroups {
  /** Largest group first. */
  readonly items: readonly ErrorGroup[];
  /** Number of dead letters in no group. */
  readonly others: number;
  /** False when counting took too long and the oldest were not counted. */
  readonly isComplete: boolean;
}

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** Counts dead letters by kind of error. */
export class ErrorGroupCount {
  /** The number of the current hour. */
  private readonly hour: number;
  private readonly groups = new Map<string, ErrorGroup>();
  private others = 0;

  constructor(now: number) {
    this.hour = Math.floor(now / HOUR_MS);
  }

  add(record: TaskRecord): void {
    const message = messageOf(record);
    const fingerprint = fingerprintOf(message);
    const key = `${record.queue} ${fingerprint}`;
    let group = this.groups.get(key);
    if (group !== undefined) count(group, record, message);
    else if (this.groups.size === GROUPS_MAX) {
      this.others += 1;
      return;
    } else {
      group = newGroup(record, fingerprint, message);
      this.groups.set(key, group);
    }
    const hoursAgo = this.hour - Math.floor(record.endedAt / HOUR_MS);
    if (hoursAgo >= 0 && hoursAgo < HOURS) group.endedByHour[HOURS - 1 - hoursAgo] += 1;
  }

  result(isComplete: boolean): ErrorGroups {
    const items = [...this.groups.values()].sort((a, b) => b.count - a.count);
    return { items, others: this.others, isComplete };
  }
}

function newGroup(record: TaskRecord, fingerprint: string, message: string): ErrorGroup {
  const endedAt = timeText(record.endedAt);
  const endedByHour = new Array<number>(HOURS).fill(0);
  const times = { firstEndedAt: endedAt, lastEndedAt: endedAt, endedByHour };
  const taskId = idOf(record);
  return { fingerprint, type: taskTypeOf(record.queue), count: 1, message, taskId, ...times };
}

function count(group: ErrorGroup, record: TaskRecord, message: string): void {
  const endedAt = timeText(record.endedAt);
  group.count += 1;
  if (endedAt < group.firstEndedAt) group.firstEndedAt = endedAt;
  if (endedAt <= group.lastEndedAt) return;
  group.lastEndedAt = endedAt;
  group.message = message;
  group.taskId = idOf(record);
}

/** Errors that differ only in numbers, ids and quoted words have the same fingerprint. */
export function fingerprintOf(message: string): string {
  const alike = message
    .toLowerCase()
    .replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, '?')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '?')
    .replaceAll(/\b(?=[a-z_]*\d)[a-z_]*[0-9a-f]{8,}\w*/g, '?')
    .replaceAll(/\d+(?:\.\d+)*/g, '?');
  return createHash('sha256').update(alike).digest('hex').slice(0, FINGERPRINT_CHARACTERS);
}

/** The fingerprint of a dead letter's error. */
export function fingerprintOfEnd(ended: Ended): string {
  return fingerprintOf(messageOf(ended));
}

type Ended = Pick<TaskRecord, 'result' | 'reason'>;

/** The first line of the error message, or the reason of the end when there is none. */
function messageOf({ result, reason }: Ended): string {
  const { message } = parsed(result) as { message?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : REASONS[reason];
  return text.split('\n', 1)[0].slice(0, MESSAGE_CHARACTERS_MAX);
}

/** A result that is not JSON has no message; the task is still counted. */
function parsed(result: string): object {
  try {
    const error: unknown = result === '' ? null : JSON.parse(result);
    return error ?? {};
  } catch {
    return {};
  }
}

function idOf({ submittedAt, number }: TaskRecord): string {
  return taskIdText({ submittedAt, partition: PARTITION, number: number as TaskNumber });
}
