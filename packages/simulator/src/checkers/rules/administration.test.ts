import { expect, test } from 'vitest';
import { event, SUBMIT, state, TestStory } from '../testing/test-story.ts';
import { Administration } from './administration.ts';

const CANCELLED = event('task_ended', { state: state('cancelled') });
const EXPIRED = event('task_ended', { state: state('expired') });
const DONE = { outcomes: [{}] };

function begun(): TestStory {
  const story = new TestStory((of) => new Administration(of));
  return story.happens(SUBMIT, [event('task_submitted')]);
}

test('every change has its event, and what changes nothing has none', () => {
  const story = begun();
  const id = story.id();
  const task = { id, namespace: 'default' };
  story.happens({ type: 'pause_task', ...task }, [event('task_paused')], {});
  story.happens({ type: 'pause_task', ...task }, [], {});
  story.happens({ type: 'resume_task', ...task }, [event('task_resumed')], {});
  story.happens({ type: 'resume_task', ...task }, [], {});
  const patches = [{ id, priority: 2 }, { id }, { id, tags: null }];
  const patched = [event('task_patched'), event('task_patched')];
  story.happens({ type: 'patch_tasks', patches }, patched, { outcomes: [{}, {}, {}] });
  const cancel = { type: 'cancel_tasks', ids: [id, id] } as const;
  story.happens(cancel, [CANCELLED], { outcomes: [{}, {}] });
  const twice = { outcomes: [{}, { rejection: 'task_not_finished' }] };
  story.happens({ type: 'retry_tasks', ids: [id, id] }, [event('task_retried')], twice);
  story.happens(cancel, [CANCELLED], { outcomes: [{}, {}] });
  const changed = [event('task_patched'), event('task_retried')];
  story.happens({ type: 'retry_tasks', ids: [id], input: {} }, changed, DONE);
  const pause = { type: 'set_queue_paused', taskType: 'a', paused: true } as const;
  story.happens(pause, [event('queue_changed')], {});
  story.happens(pause, [], {});
  story.happens({ type: 'start_redrive' }, [event('redrive_started')], { redrive: 1 });
  story.happens({ type: 'end_redrive' }, [event('redrive_ended')], { found: true });

  expect(() => story.happens({ type: 'end_redrive' }, [], { found: false })).not.toThrow();
});

test('an acknowledged change without an event, or with two, is noticed', () => {
  const pause = (story: TestStory, count: number) => {
    const events = Array.from({ length: count }, () => event('task_paused'));
    return story.happens({ type: 'pause_task', id: story.id() }, events, {});
  };
  expect(() => pause(begun(), 0)).toThrow(/^I42.*0 events, not 1/);
  expect(() => pause(begun(), 2)).toThrow(/^I42.*2 events, not 1/);
  const discard = { type: 'discard_dead_letters' } as const;
  const dropped = event('dead_letter_dropped');
  expect(() => begun().happens(discard, [dropped], { discarded: 2 })).toThrow(/^I42/);
  expect(() => begun().happens({ type: 'start_redrive' }, [], { redrive: 1 })).toThrow(/^I42/);
});

test('a refused change with an event is noticed', () => {
  const story = begun();
  const cancel = { type: 'cancel_tasks', ids: [story.id()] } as const;
  const reply = { outcomes: [{ rejection: 'task_not_found' }] };
  expect(() => story.happens(cancel, [CANCELLED], reply)).toThrow(/^I42/);
});

test('a task that is past its deadline ends in the turn of any command', () => {
  const other = event('task_submitted', { task: 2, slot: 1 });
  const otherEnds = (how: string) =>
    event('task_ended', { task: 2, slot: 1, state: state(how as 'expired') });
  const refused = { outcomes: [{ rejection: 'task_not_found' }] };
  const cancel = { type: 'cancel_tasks', ids: ['t_none'] } as const;
  begun().happens(cancel, [EXPIRED], refused);
  const end = (how: string) => () => {
    const story = begun().happens(SUBMIT, [other]);
    const failed = event('task_ended', { state: state('failed') });
    story.happens({ type: 'end_task', id: story.id() }, [failed, otherEnds(how)], {});
  };
  expect(end('expired')).not.toThrow();
  expect(end('failed')).toThrow(/^I42.*task 2 has 1 events, not 0/);

  const pause = (how: string) => () => {
    const story = begun().happens(SUBMIT, [other]);
    story.happens({ type: 'pause_task', id: story.id() }, [event('task_paused'), otherEnds(how)]);
  };
  expect(pause('expired')).not.toThrow();
  expect(pause('cancelled')).toThrow(/^I42.*task 2 has 1 events, not 0/);
});

test('an expiry does not stand for the change that was asked for', () => {
  const story = begun();
  const cancel = { type: 'cancel_tasks', ids: [story.id()] } as const;
  expect(() => story.happens(cancel, [EXPIRED], DONE)).toThrow(/^I42.*0 events, not 1/);
});

test('a task that is paused does not end in the turn of a command', () => {
  const story = begun();
  const id = story.id();
  story.happens({ type: 'pause_task', id }, [event('task_paused')], {});
  expect(() => story.happens({ type: 'end_redrive' }, [EXPIRED], { found: false })).toThrow(/^I42/);
});

test('a refusal that is not so is noticed', () => {
  const refuse = (rejection: string) => () => {
    const story = begun();
    const pause = { type: 'pause_task', id: story.id() } as const;
    story.happens(pause, [], { rejection });
  };
  expect(refuse('task_not_found')).toThrow(/^I42/);
  expect(refuse('task_finished')).toThrow(/^I42/);
  expect(refuse('task_running')).toThrow(/^I42/);
});

test('a change of a task that nobody knows is noticed', () => {
  const cancel = { type: 'cancel_tasks', ids: ['t_none'] } as const;
  expect(() => begun().happens(cancel, [], DONE)).toThrow(/^I42/);
});
