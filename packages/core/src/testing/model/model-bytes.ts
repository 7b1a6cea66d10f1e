import type { Resources } from '../../task/resources.ts';
import type { RetryPolicy } from '../../task/retry-policy.ts';
import type { Callback, Tags } from '../../task/task-labels.ts';
import type { Timeouts } from '../../task/timeouts.ts';
import { testUtf8 } from '../test-utf8.ts';
import type { ModelTask } from './model-task.ts';

/** Size of a push or signal without its content. */
const ENVELOPE_BYTES = 256;

/** Caches texts by the object that they were built from. */
class Texts<T extends object> {
  private readonly known = new WeakMap<T, string>();

  of(value: T, make: (value: T) => string): string {
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const text = make(value);
    this.known.set(value, text);
    return text;
  }
}

const SHAPES = new Texts<Described>();
const RETRIES = new Texts<RetryPolicy>();
const TIMEOUTS = new Texts<Timeouts>();
const TAGS = new Texts<Tags>();
const CALLBACKS = new Texts<Callback>();
const KINDS = ['slots', 'cpu', 'memoryMb', 'diskMb', 'gpu'] as const;
const LENGTHS = new Map<string, number>();
const LENGTHS_MAX = 10_000;

export type ModelTexts = Readonly<
  Record<'shape' | 'retry' | 'timeouts' | 'tags' | 'callback', string>
>;

type Described = Pick<
  ModelTask,
  'resources' | 'constraints' | 'retry' | 'timeouts' | 'tags' | 'callback'
>;

/** The shared texts of a task. */
export function textsOf(task: Described): ModelTexts {
  const { retry, timeouts, tags, callback } = task;
  return {
    shape: SHAPES.of(task, shapeText),
    retry: retry === undefined ? '' : RETRIES.of(retry, retryText),
    timeouts: TIMEOUTS.of(timeouts, timeoutsText),
    tags: TAGS.of(tags, tagsText),
    callback: callbackText(callback),
  };
}

/** Supports only the plain spelling of constraints. */
function shapeText({ resources, constraints }: Described): string {
  const needs: Resources = { slots: 1, ...resources };
  const custom = sorted(needs.custom ?? {});
  const entries: [string, unknown][] = KINDS.map((kind) => [kind, needs[kind]]);
  if (Object.keys(custom).length > 0) entries.push(['custom', custom]);
  const needed = Object.fromEntries(entries.filter(([, amount]) => amount));
  const isPlain = constraints.length === 0 && JSON.stringify(needed) === '{"slots":1}';
  const words = { resources: needed, constraints: [...constraints].sort() };
  return isPlain ? '' : JSON.stringify(words);
}

function retryText(policy: RetryPolicy): string {
  const { maxAttempts, backoff, delayMs, maxDelayMs, jitter, delaysMs } = policy;
  return JSON.stringify({ maxAttempts, backoff, delayMs, maxDelayMs, jitter, delaysMs });
}

function timeoutsText({ queueMs, runMs, heartbeatMs, totalMs }: Timeouts): string {
  return unlessEmpty({ queueMs, runMs, heartbeatMs, totalMs });
}

function tagsText(tags: Tags): string {
  return unlessEmpty(sorted(tags));
}

export function callbackText(callback: Callback | undefined): string {
  if (callback === undefined) return '';
  return CALLBACKS.of(callback, ({ url, on, secret }) =>
    JSON.stringify({ url, on: [...on].sort(), secret }),
  );
}

function unlessEmpty(words: object): string {
  const text = JSON.stringify(words);
  return text === '{}' ? '' : text;
}

function sorted<T>(words: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(words).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Size of a delivery without its text. */
const DELIVERY_BYTES = 600;

/** Bytes held by tasks and deliveries: payloads, and each shared text once. */
export function heldBytes(
  tasks: readonly ModelTask[],
  deliveries: readonly Pick<ModelTask, 'callback'>[],
): number {
  // No text of one kind equals a text of another kind.
  const shared = new Set<string>();
  for (const { callback } of deliveries) shared.add(callbackText(callback));
  let bytes = DELIVERY_BYTES * deliveries.length;
  for (const task of tasks) {
    const held = heldOf(task);
    for (const text of held.texts) shared.add(text);
    bytes += held.payloadBytes;
  }
  for (const text of shared) bytes += textBytes(text);
  return bytes;
}

/** Bytes held for a text, however many tasks share it. */
export function textBytes({ length }: string): number {
  return length === 0 ? 0 : 150 + 4 * length;
}

type Holding = Described & Pick<ModelTask, 'input' | 'result'>;

/** What a task holds; valid while the task's fields are the same. */
interface Held extends Holding {
  readonly payloadBytes: number;
  readonly texts: readonly string[];
}

const HELD = new WeakMap<Holding, Held>();

function heldOf(task: Holding): Held {
  const known = HELD.get(task);
  if (known !== undefined && isAsBefore(known, task)) return known;
  const { resources, constraints, retry, timeouts, tags, callback, input, result } = task;
  const payloadBytes = bytesOf(input) + bytesOf(result);
  const texts = Object.values(textsOf(task)).filter((text) => text !== '');
  const described = { resources, constraints, retry, timeouts, tags, callback };
  const held = { ...described, input, result, payloadBytes, texts };
  HELD.set(task, held);
  return held;
}

function isAsBefore(before: Holding, task: Holding): boolean {
  const isSaid = before.input === task.input && before.result === task.result;
  const isShaped = before.resources === task.resources && before.constraints === task.constraints;
  const isLimited = before.retry === task.retry && before.timeouts === task.timeouts;
  return isSaid && isShaped && isLimited && before.tags === task.tags;
}

export function bytesOf(text: string): number {
  // Most lookups repeat: after every command, every task is measured again.
  const known = LENGTHS.get(text);
  if (known !== undefined) return known;
  const { length } = testUtf8.encode(text);
  if (LENGTHS.size >= LENGTHS_MAX) LENGTHS.clear();
  LENGTHS.set(text, length);
  return length;
}

/** What a push of the task adds to its worker's unread bytes. */
export function pushBytes(task: Described & Pick<ModelTask, 'input'>): number {
  return bytesOf(task.input) + textsOf(task).tags.length + ENVELOPE_BYTES;
}

/** Like `pushBytes`, for a signal. */
export function signalBytes({ name, data }: { name: string; data: string }): number {
  return name.length + bytesOf(data) + ENVELOPE_BYTES;
}
