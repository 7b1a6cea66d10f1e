import type { Archive } from '../structures/archive.ts';
import { Interner, type InternerReader } from '../structures/interner.ts';
import { TASK_TEXT_NAMES, TASK_TEXTS, type TaskText, type TextValue } from '../task/task-texts.ts';

type Interners = { readonly [Name in TaskText]: Interner<TextValue<Name>> };

/** Read-only view for code outside `apply`: one interner for each kind of text. */
export type SharedTextsReader = { readonly [Name in TaskText]: InternerReader<TextValue<Name>> };

/** The texts that tasks share, each kept once. */
export function makeSharedTexts(): Interners {
  const interners = TASK_TEXT_NAMES.map((name) => [
    name,
    new Interner<unknown>(TASK_TEXTS[name].parse),
  ]);
  return Object.fromEntries(interners) as Interners;
}

/** Approximate size of all texts. */
export function sharedTextBytes(texts: SharedTextsReader): number {
  let bytes = 0;
  for (const name of TASK_TEXT_NAMES) bytes += texts[name].bytes;
  return bytes;
}

export function persistSharedTexts(texts: Interners, archive: Archive): void {
  for (const name of TASK_TEXT_NAMES) {
    archive.section(name);
    texts[name].persist(archive);
  }
}
