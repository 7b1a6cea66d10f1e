import { expect, test } from 'vitest';
import type { HistoryEntry } from '../clients/history.ts';
import { Answers } from './answers.ts';
import { event, payload, SUBMIT, TestStory } from './testing/test-story.ts';

/** A task that is queued at 0, leased at 100, succeeded at 200 and forgotten at 300. */
function lived() {
  const entries: HistoryEntry[] = [];
  let answers: Answers | undefined;
  const story = new TestStory((of) => {
    answers = new Answers(of, entries);
    return answers;
  });
  const done = event('attempt_succeeded', { output: payload('"out"') });
  story.happens(SUBMIT, [event('task_submitted', { input: payload('{"n":1}') })]).after(100);
  story.happens({ type: 'attach_session' }, [event('attempt_leased')]).after(100);
  story.happens({ type: 'report_attempts' }, [done]).after(100);
  story.happens(SUBMIT, [event('task_forgotten')]);
  const hear = (heard: Partial<HistoryEntry>) => {
    const asked = { kind: 'get', id: story.id() } as const;
    const entry = { client: 'client1', asked, isRepeated: false, status: 200, answer: {} };
    entries.push({ ...entry, invokedAt: 0, answeredAt: 0, ...heard });
    story.story.ended();
  };
  const show = (view: object, askedAt: number) => {
    answers?.shown(story.id(), JSON.stringify(view), askedAt);
  };
  return { story, hear, show };
}

const VIEW = { input: { n: 1 }, priority: 4, output: null, error: null };
const QUEUED = { ...VIEW, state: 'queued', attempt: 0 };
const LEASED = { ...VIEW, state: 'leased', attempt: 1 };
const DONE = { ...VIEW, state: 'succeeded', attempt: 1, output: 'out' };

test('what a task was between question and answer may be heard', () => {
  const { hear } = lived();
  hear({ invokedAt: 50, answeredAt: 60, answer: QUEUED });
  hear({ invokedAt: 50, answeredAt: 150, answer: QUEUED });
  hear({ invokedAt: 50, answeredAt: 150, answer: LEASED });
  hear({ invokedAt: 250, answeredAt: 260, answer: DONE });
  hear({ invokedAt: 250, answeredAt: 350, status: 404 });

  expect(() =>
    hear({ invokedAt: 250, answeredAt: Number.POSITIVE_INFINITY, status: 0 }),
  ).not.toThrow();
});

test('what it was before the question or after the answer is noticed', () => {
  const early = { invokedAt: 120, answeredAt: 150, answer: QUEUED };
  expect(() => lived().hear(early)).toThrow(/^I3/);
  const late = { invokedAt: 120, answeredAt: 150, answer: DONE };
  expect(() => lived().hear(late)).toThrow(/^I3/);
});

test('another attempt, input, priority or output than the log has is noticed', () => {
  const heard = (changes: object) => () =>
    lived().hear({ invokedAt: 250, answeredAt: 260, answer: { ...DONE, ...changes } });
  expect(heard({ attempt: 2 })).toThrow(/^I3/);
  expect(heard({ input: { n: 2 } })).toThrow(/^I3/);
  expect(heard({ priority: 5 })).toThrow(/^I3/);
  expect(heard({ output: 'other' })).toThrow(/^I3/);
  expect(heard({ output: null })).toThrow(/^I3/);
});

test('a task that is there and not found, or forgotten and found, is noticed', () => {
  expect(() => lived().hear({ invokedAt: 150, answeredAt: 160, status: 404 })).toThrow(/^I1/);
  const found = { invokedAt: 350, answeredAt: 360, answer: DONE };
  expect(() => lived().hear(found)).toThrow(/^I3/);
});

test('a submit hears the state of its task, also by its key after that is gone', () => {
  const { story, hear } = lived();
  const asked = { kind: 'submit', tasks: [] } as const;
  const items = [{ id: story.id(), state: 'succeeded', deduplicated: true }];
  hear({ asked, invokedAt: 350, answeredAt: 360, answer: { items } });
  const wrong = [{ id: story.id(), state: 'failed', deduplicated: true }];
  const heard = { asked, invokedAt: 350, answeredAt: 360, answer: { items: wrong } };
  expect(() => hear(heard)).toThrow(/^I3/);
});

test('what gets out of the server is in the log by then', () => {
  const { show } = lived();
  show(LEASED, 150);
  show(DONE, 150);
  expect(() => show(QUEUED, 150)).toThrow(/^I29/);
  expect(() => show({ ...DONE, attempt: 2 }, 150)).toThrow(/^I29/);
});
