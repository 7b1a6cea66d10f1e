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
      const { resources, constraintTexts } = parseShape(text);
      return { resources, constraints: constraintTexts };
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
