import type { RetryPolicy } from './retry-policy.ts';
import { parseRetry, retryText } from './retry-policy.ts';
import { parseShape, shapeText } from './shape.ts';
import { callbackText, parseCallback, parseTags, tagsText } from './task-labels.ts';
import type { TaskSpec } from './task-spec.ts';
import { parseTimeouts, statedTimeouts, timeoutsText } from './timeouts.ts';

interface TaskTextDeclaration {
  /** Parses the text; the empty one stands for the default. */
  readonly parse: (text: string) => unknown;
  /** The canonical text for a client's task. */
  readonly textOf: (spec: TaskSpec) => string;
  /** The inverse, for a task that runs again after it left memory. */
  readonly specOf: (text: string) => Partial<TaskSpec>;
  /** Present where a dump of the log must not show the text. */
  readonly isSecret?: true;
}

/**
 * Properties of tasks that are stored as shared texts. Each is a column of the tasks, an interner
 * of the state, a field of the events that bring a task in, and a part of its record: all of them
 * are derived from this list. New ones go to its end, because rows are read by place.
 */
export const TASK_TEXTS = {
  shape: {
    parse: parseShape,
    textOf: shapeText,
    specOf: (text) => {
      const { resources, constraintTexts, placement } = parseShape(text);
      const stated = placement === undefined ? {} : { placement };
      return { resources, constraints: constraintTexts, ...stated };
    },
  },
  retry: {
    parse: parseRetry,
    textOf: ({ retry }) => retryText(retry),
    specOf: (text) => (text === '' ? {} : { retry: JSON.parse(text) as RetryPolicy }),
  },
  timeouts: {
    parse: parseTimeouts,
    textOf: ({ timeouts }) => timeoutsText(timeouts),
    specOf: (text) => ({ timeouts: statedTimeouts(text) }),
  },
  tags: {
    parse: parseTags,
    textOf: ({ tags }) => tagsText(tags),
    specOf: (text) => ({ tags: parseTags(text) }),
  },
  callback: {
    parse: parseCallback,
    textOf: ({ callback }) => callbackText(callback),
    specOf: (text) => {
      const callback = parseCallback(text);
      return callback === undefined ? {} : { callback };
    },
    // It may contain the secret that signs deliveries.
    isSecret: true,
  },
  /** Id of the parent task. */
  parent: {
    parse: (text: string) => text,
    // The log stores only well-formed text, so memory must hold the same, or a replay would differ.
    textOf: ({ parentId }) => parentId?.toWellFormed() ?? '',
    specOf: (text) => (text === '' ? {} : { parentId: text }),
  },
} as const satisfies Record<string, TaskTextDeclaration>;

export type TaskText = keyof typeof TASK_TEXTS;

/** In the order of the log and of rows. */
export const TASK_TEXT_NAMES = Object.keys(TASK_TEXTS) as readonly TaskText[];

/** The parsed value of one kind of text. */
export type TextValue<Name extends TaskText> = ReturnType<(typeof TASK_TEXTS)[Name]['parse']>;

/** The inverse of `textOf` for all texts of a task. */
export function specOfTexts(texts: Readonly<Record<TaskText, string>>): Partial<TaskSpec> {
  return Object.assign({}, ...TASK_TEXT_NAMES.map((name) => TASK_TEXTS[name].specOf(texts[name])));
}

/** One value for each text of a task. */
type PerText<Value> = { [Name in TaskText]: Value };

/**
 * The functions below are written out because every task passes through them, and a loop over names
 * takes several times as long. A test compares them with the list.
 */
export function fillTexts(into: PerText<string>, spec: TaskSpec, shape: string): void {
  into.shape = shape;
  into.retry = retryText(spec.retry);
  into.timeouts = timeoutsText(spec.timeouts);
  into.tags = tagsText(spec.tags);
  into.callback = callbackText(spec.callback);
  into.parent = TASK_TEXTS.parent.textOf(spec);
}

/** The texts in the order of the list. */
export function listTexts(from: Readonly<PerText<string>>): string[] {
  return [from.shape, from.retry, from.timeouts, from.tags, from.callback, from.parent];
}

/** Takes texts that are in the order of the list. Missing ones are empty. */
export function setTexts(into: PerText<string>, texts: readonly string[]): void {
  into.shape = texts[0] ?? '';
  into.retry = texts[1] ?? '';
  into.timeouts = texts[2] ?? '';
  into.tags = texts[3] ?? '';
  into.callback = texts[4] ?? '';
  into.parent = texts[5] ?? '';
}

export function namedTexts(texts: readonly string[]): PerText<string> {
  const named = { shape: '', retry: '', timeouts: '', tags: '', callback: '', parent: '' };
  setTexts(named, texts);
  return named;
}

export function areTextsSame(
  one: Readonly<PerText<string>>,
  other: Readonly<PerText<string>>,
): boolean {
  return (
    one.shape === other.shape &&
    one.retry === other.retry &&
    one.timeouts === other.timeouts &&
    one.tags === other.tags &&
    one.callback === other.callback &&
    one.parent === other.parent
  );
}

/** Holds the texts of the task in `slot`. */
export function holdTexts(
  columns: Readonly<PerText<Uint32Array>>,
  interners: Readonly<PerText<{ hold(text: string): number }>>,
  slot: number,
  from: Readonly<PerText<string>>,
): void {
  holdIn(columns.shape, slot, interners.shape.hold(from.shape));
  holdIn(columns.retry, slot, interners.retry.hold(from.retry));
  holdIn(columns.timeouts, slot, interners.timeouts.hold(from.timeouts));
  holdIn(columns.tags, slot, interners.tags.hold(from.tags));
  holdIn(columns.callback, slot, interners.callback.hold(from.callback));
  holdIn(columns.parent, slot, interners.parent.hold(from.parent));
}

export function releaseTexts(
  columns: Readonly<PerText<Uint32Array>>,
  interners: Readonly<PerText<{ release(index: number): void }>>,
  slot: number,
): void {
  interners.shape.release(columns.shape[slot]);
  interners.retry.release(columns.retry[slot]);
  interners.timeouts.release(columns.timeouts[slot]);
  interners.tags.release(columns.tags[slot]);
  interners.callback.release(columns.callback[slot]);
  interners.parent.release(columns.parent[slot]);
}

/**
 * Most tasks have the default here. Skipping the write keeps untouched pages of the column free of
 * memory.
 */
function holdIn(column: Uint32Array, slot: number, index: number): void {
  if (column[slot] !== index) column[slot] = index;
}
