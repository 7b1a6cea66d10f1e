import { retryText } from '../retry-policy.ts';
import { ShapeTexts } from '../shape-texts.ts';
import { tagsText } from '../task-labels.ts';
import { timeoutsText } from '../timeouts.ts';
import type { ModelTask } from './model-task.ts';
import { testUtf8 } from './test-utf8.ts';

/** What a push or a word takes beside what it carries. */
const ENVELOPE_BYTES = 256;

const SHAPES = new ShapeTexts();

export type ModelTexts = Readonly<Record<'shape' | 'retry' | 'timeouts' | 'tags', string>>;

type Described = Pick<ModelTask, 'resources' | 'constraints' | 'retry' | 'timeouts' | 'tags'>;

/** What is said of a task, as texts that tasks share. */
export function textsOf({ resources, constraints, retry, timeouts, tags }: Described): ModelTexts {
  return {
    shape: SHAPES.textOf({ resources, constraints }),
    retry: retryText(retry),
    timeouts: timeoutsText(timeouts),
    tags: tagsText(tags),
  };
}

/** What tasks hold: payloads, and each text once, however many share it. */
export function heldBytes(tasks: readonly ModelTask[]): number {
  const texts = new Set(
    tasks.map(textsOf).flatMap((each) => Object.entries(each).map((entry) => entry.join(' '))),
  );
  let bytes = 0;
  for (const text of texts) bytes += text.length - text.indexOf(' ') - 1;
  for (const { input, result } of tasks) bytes += bytesOf(input) + bytesOf(result);
  return bytes;
}

export function bytesOf(text: string): number {
  return testUtf8.encode(text).length;
}

/** What a push of the task adds to what its worker has not read. */
export function pushBytes(task: Described & Pick<ModelTask, 'input'>): number {
  return bytesOf(task.input) + textsOf(task).tags.length + ENVELOPE_BYTES;
}

/** As `pushBytes`, of a word for a worker. */
export function signalBytes({ name, data }: { name: string; data: string }): number {
  return name.length + bytesOf(data) + ENVELOPE_BYTES;
}
