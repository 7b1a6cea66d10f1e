import { deliveryIdText, type Event } from '@sluice/core';
import { beforeEach, expect, test } from 'vitest';
import { event, SUBMIT, state, TestStory } from '../testing/test-story.ts';
import { Callbacks } from './callbacks.ts';

const CALLBACK = JSON.stringify({ url: 'http://x/', on: ['running', 'succeeded', 'cancelled'] });
const TICK = { type: 'expire_sessions' } as const;
const RECORD = { type: 'record_delivery' } as const;

let rule: Callbacks;
let story: TestStory;

beforeEach(() => {
  story = new TestStory((of) => {
    rule = new Callbacks(of);
    return rule;
  });
  story.happens(SUBMIT, [event('task_submitted', { callback: CALLBACK })]);
});

test('what is owed and told, in order, is fine', () => {
  run();
  hear(1, 'running');
  recorded('callback_delivered', 1, 'running');
  hear(2, 'succeeded');
  hear(2, 'succeeded');
  recorded('callback_delivered', 2, 'succeeded');

  expect(() => rule.look()).not.toThrow();
});

test('what nothing durable owes is noticed', () => {
  expect(() => hear(1, 'running')).toThrow(/^I35.*nothing durable/);
});

test('an id that stands for another change is noticed', () => {
  run();

  expect(() => hear(1, 'succeeded')).toThrow(/^I35.*task.running/);
});

test('a later change that is told first is noticed', () => {
  run();

  expect(() => hear(2, 'succeeded')).toThrow(/^I35.*told before 1/);
});

test('one that counts as delivered and was not heard is noticed', () => {
  run();

  expect(() => recorded('callback_delivered', 1, 'running')).toThrow(/^I35.*nobody heard/);
});

test('a try of what is over, or of another task, is noticed', () => {
  run();
  recorded('callback_failed', 1, 'running', 0);

  expect(() => recorded('callback_failed', 1, 'running', 0)).toThrow(/^I35.*given up/);
  expect(() => recorded('callback_failed', 9, 'running', 0)).toThrow(/^I35.*not owed/);
});

test('a try before its time is noticed', () => {
  run();
  recorded('callback_failed', 1, 'running', story.now + 5000);
  story.after(4999);

  expect(() => recorded('callback_failed', 1, 'running', 0)).toThrow(/^I35.*before/);
});

test('one that is due and that nobody tries is noticed in the end', () => {
  run();
  story.after(29_999).happens(TICK);
  rule.look();

  story.after(1).happens(TICK);

  expect(() => rule.look()).toThrow(/^I35.*nobody tries it/);
});

/** The task starts and succeeds: two state changes with a delivery each. */
function run(): void {
  story.happens({ type: 'report_attempts' }, [
    event('attempt_leased'),
    event('attempt_started'),
    event('attempt_succeeded'),
  ]);
}

function hear(number: number, name: string): void {
  const body = JSON.stringify({ type: `task.${name}`, data: { id: story.id() } });
  rule.heard({ id: deliveryIdText({ partition: 0, number }), url: 'http://x/', body });
}

function recorded(
  type: 'callback_delivered' | 'callback_failed',
  delivery: number,
  name: Parameters<typeof state>[0],
  nextAt = 0,
): void {
  const fields = { delivery, state: state(name), nextAt };
  story.happens(RECORD, [event(type, fields) as Event]);
}
