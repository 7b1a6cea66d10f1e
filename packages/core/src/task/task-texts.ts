import type { RetryPolicy } from './retry-policy.ts';
import { parseRetry, retryText } from './retry-policy.ts';
import { parseShape, shapeText } from './shape.ts';
import { callbackText, parseCallback, parseTags, tagsText } from './task-labels.ts';
import type { TaskSpec } from './task-spec.ts';
import { parseTimeouts, statedTimeouts, timeoutsText } from './timeouts.ts';

interface TaskTextDeclaration {
  /** What the text means; the empty one stands for the default. */
  readonly parse: (text: string) => unknown;
  /** The text for what a client said; the same one for the same meaning. */
  readonly textOf: (spec: TaskSpec) => string;
  /** The way back, for a task that runs again after it left memory. */
  readonly specOf: (text: string) => Partial<TaskSpec>;
  /** Present where a dump of the log must not show the text. */
  readonly isSecret?: true;
}

/**
 * What tasks say of themselves as texts that many of them share. Each is a column of the tasks, an
 * interner of the state, a field of the events that bring a task in, and a part of its record:
 * all of them follow from this list. New ones go to its end, because rows are read by place.
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
    // It may hold the secret that deliveries are signed with.
    isSecret: true,
  },
  /** Id of the task that it belongs to. */
  parent: {
    parse: (text: string) => text,
    // What the log cannot hold as it is must not be in memory either, or a replay would differ.
    textOf: ({ parentId }) => parentId?.toWellFormed() ?? '',
    specOf: (text) => (text === '' ? {} : { parentId: text }),
  },
} as const satisfies Record<string, TaskTextDeclaration>;

export type TaskText = keyof typeof TASK_TEXTS;

/** In the order of the log and of rows. */
export const TASK_TEXT_NAMES = Object.keys(TASK_TEXTS) as readonly TaskText[];

/** What the text of one kind means. */
export type TextValue<Name extends TaskText> = ReturnType<(typeof TASK_TEXTS)[Name]['parse']>;

/** What the texts of a task say, as a client would. */
export function specOfTexts(texts: Readonly<Record<TaskText, string>>): Partial<TaskSpec> {
  return Object.assign({}, ...TASK_TEXT_NAMES.map((name) => TASK_TEXTS[name].specOf(texts[name])));
}
