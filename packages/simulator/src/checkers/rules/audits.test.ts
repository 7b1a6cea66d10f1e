import { expect, test } from 'vitest';
import { event, TestStory } from '../testing/test-story.ts';
import { Audits } from './audits.ts';

const BY = { actor: 'k_1', address: '', request: 'q_1', subject: 'a queue', detail: '' };
const PAUSE = { type: 'set_queue_paused', namespace: 'default', by: BY } as const;
const CHANGED = event('queue_changed');
const RECORDED = event('audit_recorded', { actor: 'k_1', request: 'q_1' });
const REVOKE = { type: 'revoke_access_key', namespace: 'other', by: BY } as const;

function begun(): TestStory {
  return new TestStory((of) => new Audits(of));
}

test('a change has one audit record, and what changed nothing has none', () => {
  const story = begun();
  story.happens(PAUSE, [CHANGED, RECORDED], {});
  story.happens(PAUSE, [], {});
  story.happens({ ...PAUSE, by: undefined }, [CHANGED], {});
  expect(() => story.happens(PAUSE, [CHANGED], {})).toThrow(/^I42.*0 audit records/);
  expect(() => story.happens(PAUSE, [RECORDED], {})).toThrow(/^I42.*changes 0 things/);
  expect(() => story.happens(PAUSE, [CHANGED, RECORDED, RECORDED], {})).toThrow(/^I42/);
});

test('a retry has an audit record if it changes the input', () => {
  const retry = { type: 'retry_tasks', namespace: 'default', by: BY } as const;
  const changed = [event('task_patched'), event('task_retried')];
  expect(() => begun().happens(retry, [...changed, RECORDED], {})).not.toThrow();
  expect(() => begun().happens(retry, changed, {})).toThrow(/^I42.*0 audit records/);
});

test('a change that is put down to somebody else is noticed', () => {
  const other = event('audit_recorded', { actor: 'k_2', request: 'q_1' });
  expect(() => begun().happens(PAUSE, [CHANGED, other], {})).toThrow(/^I42.*k_1.*k_2/);
});

test('a key of another namespace is out of reach', () => {
  const story = begun();
  const made = event('access_key_created', { key: 'k_9', namespace: 'default' });
  story.happens({ type: 'create_access_key', namespace: 'default' }, [made], {});
  const revoked = event('access_key_revoked', { key: 'k_9' });
  expect(() => story.happens(REVOKE, [revoked, RECORDED], {})).toThrow(/^I39.*of default/);
});
