import type { Callback, Progress, Shape, Tags, Timeouts } from '@sluice/core';
import { blobOf } from '@sluice/core';
import type { Usage } from '@sluice/protocol';
import { readEnvelope, shownEnvelope } from '../base/exec-envelope.ts';
import { timeText } from '../base/time-text.ts';

/** One attempt of a task, as answers show it. */
export interface ShownAttempt {
  readonly attempt: number;
  readonly worker: string;
  readonly leasedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: string | null;
  /** JSON of the attempt's error and output, or a blob reference; empty for none. */
  readonly error: string;
  readonly output: string;
  /** What it used; absent when nobody measured. */
  readonly usage?: Usage;
}

/** What an answer shows of a task, from whatever source. A time is 0 when there is none. */
export interface ShownTask {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly reason: string;
  readonly priority: number;
  readonly shape: Pick<Shape, 'resources' | 'constraintTexts' | 'placement'>;
  readonly attempt: number;
  readonly attempts: readonly ShownAttempt[];
  readonly submittedAt: number;
  /** The time that a waiting task waits for. */
  readonly dueAt: number;
  readonly retry: object;
  readonly timeouts: Timeouts;
  readonly tags: Tags;
  readonly parentId: string;
  /** Id of the run and reference of the step; empty for a task of no run. */
  readonly runId: string;
  readonly step: string;
  readonly callback: Callback | undefined;
  readonly cancelRequestedAt: number;
  readonly endedAt: number;
  readonly progress: Progress | undefined;
  /** JSON, or a reference to a blob; empty stands for null. */
  readonly input: string;
  readonly result: string;
  /** The result belongs to an earlier attempt and says nothing about the current state. */
  readonly isResultOld: boolean;
}

/** A task as JSON text. Payloads are copied in as the bytes that were received. */
export function shownJson(task: ShownTask): string {
  const envelope = JSON.stringify({
    id: task.id,
    type: task.type,
    state: task.state,
    reason: task.reason,
    priority: task.priority,
    resources: task.shape.resources,
    constraints: task.shape.constraintTexts,
    placement: task.shape.placement,
    attempt: task.attempt,
    attempts: task.attempts.map(shownAttempt),
    submittedAt: time(task.submittedAt),
    runAt: task.state === 'waiting' ? time(task.dueAt) : null,
    retry: task.retry,
    timeouts: task.timeouts,
    tags: task.tags,
    parentId: task.parentId || null,
    ...(task.runId === '' ? {} : { runId: task.runId, step: task.step }),
    callback: shownCallback(task.callback),
    cancelRequestedAt: time(task.cancelRequestedAt),
    endedAt: time(task.endedAt),
    progress: task.progress ?? null,
  });
  const result = task.result || 'null';
  const output = task.state === 'succeeded' ? result : 'null';
  // Until a task succeeds, its result is the error of its last attempt, if that failed.
  const error = task.state === 'succeeded' || task.isResultOld ? 'null' : result;
  const input = inputFields(task);
  return `${envelope.slice(0, -1)},${input},${payloadField('output', output)},"error":${error}}`;
}

function inputFields({ type, input }: ShownTask): string {
  const envelope = readEnvelope(type, input);
  return envelope === undefined ? payloadField('input', input || 'null') : shownEnvelope(envelope);
}

/** The payload as a field of an object, or the name of its blob. */
export function payloadField(name: string, text: string): string {
  const blob = blobOf(text);
  return blob === undefined ? `"${name}":${text}` : `"${name}Blob":"${blob}"`;
}

function shownAttempt({ leasedAt, startedAt, endedAt, error, output, ...rest }: ShownAttempt) {
  return {
    attempt: rest.attempt,
    worker: rest.worker,
    leasedAt: time(leasedAt),
    startedAt: time(startedAt),
    endedAt: time(endedAt),
    outcome: rest.outcome,
    ...(error === '' ? {} : { error: JSON.parse(error) as unknown }),
    ...shownOutput(output),
    ...(rest.usage === undefined ? {} : { usage: rest.usage }),
  };
}

function shownOutput(text: string): { output?: unknown; outputBlob?: string } {
  if (text === '') return {};
  const outputBlob = blobOf(text);
  return outputBlob === undefined ? { output: JSON.parse(text) as unknown } : { outputBlob };
}

/** The secret is never shown. */
function shownCallback(callback: Callback | undefined): object | null {
  return callback === undefined ? null : { url: callback.url, on: callback.on };
}

function time(ms: number): string | null {
  return ms === 0 ? null : timeText(ms);
}
