import { describe, expect, test } from 'vitest';
import { Interner } from '../structures/interner.ts';
import type { TaskSpec } from './task-spec.ts';
import {
  areTextsSame,
  fillTexts,
  holdTexts,
  listTexts,
  namedTexts,
  releaseTexts,
  TASK_TEXT_NAMES,
  TASK_TEXTS,
  type TaskText,
} from './task-texts.ts';

const SPEC: TaskSpec = {
  type: 'resize',
  resources: { cpu: 2 },
  retry: { maxAttempts: 7 },
  timeouts: { runMs: 5000 },
  tags: { city: 'Hangzhou' },
  callback: { url: 'http://127.0.0.1:9/', on: ['succeeded'] },
  parentId: 't_0000000000000001',
};

function perText<Value>(make: (name: TaskText, place: number) => Value): Record<TaskText, Value> {
  const entries = TASK_TEXT_NAMES.map((name, place) => [name, make(name, place)]);
  return Object.fromEntries(entries) as Record<TaskText, Value>;
}

/** A text of the list that they forget would be lost for every task. */
describe('the written-out functions agree with the list', () => {
  test('each text of a task is filled in', () => {
    const filled = perText(() => 'not filled in');
    fillTexts(filled, SPEC, TASK_TEXTS.shape.textOf(SPEC));
    expect(filled).toEqual(perText((name) => TASK_TEXTS[name].textOf(SPEC)));
    expect(Object.values(filled)).not.toContain('');
  });

  test('texts are listed in order and named again', () => {
    const texts = perText((name) => `text of ${name}`);
    expect(listTexts(texts)).toEqual(TASK_TEXT_NAMES.map((name) => `text of ${name}`));
    expect(namedTexts(listTexts(texts))).toEqual(texts);
    expect(namedTexts([])).toEqual(perText(() => ''));
  });

  test('texts are the same only if each of them is', () => {
    const texts = perText((name) => `text of ${name}`);
    expect(areTextsSame(texts, { ...texts })).toBe(true);
    for (const name of TASK_TEXT_NAMES) {
      expect(areTextsSame(texts, { ...texts, [name]: 'another' })).toBe(false);
    }
  });

  test('each column gets the number of its text', () => {
    const columns = perText(() => new Uint32Array(2));
    const interners = perText(() => new Interner((text) => text));
    const texts = perText((name) => `text of ${name}`);
    holdTexts(columns, interners, 1, texts);
    for (const name of TASK_TEXT_NAMES) {
      expect(interners[name].textAt(columns[name][1])).toBe(texts[name]);
      expect(columns[name][0]).toBe(0);
    }
    releaseTexts(columns, interners, 1);
    for (const name of TASK_TEXT_NAMES) expect(interners[name].bytes).toBe(0);
  });
});
