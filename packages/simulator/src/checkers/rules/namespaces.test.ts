import { expect, test } from 'vitest';
import { event, SUBMIT, state, TestStory } from '../testing/test-story.ts';
import { Namespaces } from './namespaces.ts';

function begun(): TestStory {
  const story = new TestStory((of) => new Namespaces(of));
  return story.happens(SUBMIT, [event('task_submitted')]);
}

const FOREIGN = { namespace: 'foreign' };
const CANCELLED = event('task_ended', { state: state('cancelled') });

test('a command does what it wants in its own namespace, and is told of nothing else', () => {
  const story = begun();
  const cancel = { type: 'cancel_tasks', ids: [story.id()] } as const;
  const notFound = { outcomes: [{ rejection: 'task_not_found' }] };
  story.happens({ ...cancel, ...FOREIGN }, [], notFound);
  story.happens(cancel, [CANCELLED], { outcomes: [{}] });
  const forgotten = event('task_forgotten');
  const submitted = event('task_submitted', { task: 2, taskType: 'foreign/a' });

  expect(() => story.happens({ ...SUBMIT, ...FOREIGN }, [forgotten, submitted])).not.toThrow();
});

test('an effect on a foreign task is noticed', () => {
  const story = begun();
  const cancel = { type: 'cancel_tasks', ids: [story.id()], ...FOREIGN } as const;
  expect(() => story.happens(cancel, [CANCELLED], { outcomes: [{}] })).toThrow(/^I39/);
});

test('an answer that betrays a foreign task is noticed', () => {
  const story = begun();
  const pause = { type: 'pause_task', id: story.id(), ...FOREIGN } as const;
  expect(() => story.happens(pause, [], { rejection: 'task_running' })).toThrow(/^I39/);
});

test('a queue, a type or a redrive of another namespace is noticed', () => {
  const pause = { type: 'set_queue_paused', ...FOREIGN } as const;
  expect(() => begun().happens(pause, [event('queue_changed')])).toThrow(/^I39/);
  begun().happens(pause, [event('queue_changed', { taskType: 'foreign/a' })]);
});
