import { expect, test } from 'vitest';
import { Situations } from '../../base/situations.ts';
import type { Asked, HistoryEntry } from '../../clients/history.ts';
import { Simulation } from '../../kernel/simulation.ts';
import { Linearizability } from './linearizability.ts';

type Heard = readonly [asked: Asked, status: number, answer: unknown];

/** Requests run one after the other, or all at once if `isTogether` is set. */
function judge(heard: readonly Heard[], isTogether = false): void {
  const entries = heard.map(([asked, status, answer], place): HistoryEntry => {
    const invokedAt = isTogether ? 0 : place * 10;
    const answeredAt = status === 0 ? Number.POSITIVE_INFINITY : isTogether ? 9 : invokedAt + 9;
    return { client: 'client1', asked, invokedAt, answeredAt, status, answer, isRepeated: false };
  });
  const simulation = new Simulation({ seed: 1 });
  new Linearizability({ simulation, situations: new Situations(), entries }).ended();
}

function submitted(id: string, state = 'queued', deduplicated = false, task: object = {}): Heard {
  const tasks = [{ type: 'a', input: 1, ...task }];
  return [{ kind: 'submit', tasks } as Asked, 201, { items: [{ id, state, deduplicated }] }];
}

function got(
  id: string,
  state: string | undefined,
  cancelRequestedAt: string | null = null,
): Heard {
  const asked = { kind: 'get', id } as const;
  return state === undefined ? [asked, 404, {}] : [asked, 200, { state, cancelRequestedAt }];
}

function did(type: string, outcome: object | undefined, fields: object = {}): Heard {
  const ids = ['cancel_tasks', 'retry_tasks'].includes(type) ? { ids: ['t'] } : { id: 't' };
  const operation = { type, namespace: 'default', ...ids, ...fields };
  const asked = { kind: 'operate', operation } as unknown as Asked;
  return outcome === undefined ? [asked, 0, undefined] : [asked, 200, { outcomes: [outcome] }];
}

test('a life in which every answer follows from the one before passes', () => {
  expect(() =>
    judge([
      submitted('t'),
      got('t', 'leased'),
      got('t', 'running'),
      did('cancel_tasks', { state: 'running' }),
      got('t', 'running', '2030-01-01'),
      did('pause_task', { rejection: 'task_running', state: 'running' }),
      got('t', 'cancelled'),
      did('retry_tasks', { state: 'queued' }),
      did('pause_task', { state: 'paused' }),
      did('resume_task', { state: 'queued' }),
      did('end_task', { state: 'succeeded' }, { outcome: 'succeeded' }),
      did('retry_tasks', { rejection: 'task_finished', state: 'succeeded' }),
      got('t', 'succeeded'),
      got('t', undefined),
    ]),
  ).not.toThrow();
});

test('an end that is taken back is noticed', () => {
  expect(() => judge([submitted('t'), got('t', 'succeeded'), got('t', 'running')])).toThrow(
    /^linearizability/,
  );
  expect(() => judge([submitted('t'), got('t', undefined)])).not.toThrow();
  expect(() => judge([submitted('t'), got('t', undefined), got('t', 'queued')])).toThrow(/^lin/);
});

test('a task that runs after it was cancelled is noticed', () => {
  const cancelled = did('cancel_tasks', { state: 'cancelled' });
  expect(() => judge([submitted('t'), cancelled, got('t', 'leased')])).toThrow(/^linear/);
  const asked = did('cancel_tasks', { state: 'running' });
  expect(() => judge([submitted('t'), asked, got('t', 'succeeded')])).toThrow(/^linear/);
});

test('a task that is paused and runs is noticed', () => {
  const paused = did('pause_task', { state: 'paused' });
  expect(() => judge([submitted('t'), paused, got('t', 'leased')])).toThrow(/^linear/);
});

test('a request without an answer may explain what is seen later', () => {
  const seen = [got('t', 'cancelled'), did('retry_tasks', { state: 'queued' })] as const;
  expect(() => judge([submitted('t'), got('t', 'cancelled')])).toThrow(/^linear/);
  judge([submitted('t'), did('cancel_tasks', undefined), ...seen]);
});

test('a refusal that cannot be is noticed', () => {
  const refused = did('cancel_tasks', { rejection: 'task_finished', state: 'cancelled' });
  expect(() =>
    judge([submitted('t'), did('cancel_tasks', { state: 'cancelled' }), refused]),
  ).toThrow(/^linear/);
});

/** One call that patches the task once per outcome. */
function patched(...outcomes: readonly object[]): Heard {
  const patches = outcomes.map(() => ({ id: 't' }));
  const operation = { type: 'patch_tasks', namespace: 'default', patches };
  return [{ kind: 'operate', operation } as unknown as Asked, 200, { outcomes }];
}

const EXPIRED = { state: 'expired' };
const TOO_LATE = { rejection: 'task_finished', ...EXPIRED };

test('what one call does to a task is one step, and its answers name the state after it', () => {
  judge([submitted('t'), patched(EXPIRED, EXPIRED, EXPIRED), patched(TOO_LATE, TOO_LATE)]);
  const wrong = (...heard: readonly Heard[]) => {
    expect(() => judge([submitted('t'), ...heard])).toThrow(/^linear/);
  };
  wrong(patched(EXPIRED), patched(EXPIRED));
  wrong(patched(EXPIRED, TOO_LATE));
  wrong(patched({ state: 'queued' }, EXPIRED));
});

test('the end of a command may lease or expire what is queued, and nothing else', () => {
  const unfinished = { rejection: 'task_not_finished' };
  const unleased = { rejection: 'task_not_leased' };
  judge([submitted('t'), did('retry_tasks', { ...unfinished, ...EXPIRED })]);
  judge([submitted('t'), did('signal_task', { ...unleased, state: 'leased' })]);
  const wrong = (...heard: readonly Heard[]) => {
    expect(() => judge([submitted('t'), ...heard])).toThrow(/^linear/);
  };
  wrong(patched({ state: 'succeeded' }));
  wrong(patched({ state: 'running' }));
  wrong(did('pause_task', { rejection: 'task_running', state: 'queued' }));
  const paused = did('pause_task', { state: 'paused' });
  wrong(paused, did('signal_task', { ...unleased, state: 'leased' }));
  wrong(paused, did('retry_tasks', { ...unfinished, ...EXPIRED }));
});

test('a foreign operation does not matter', () => {
  const foreign = did('cancel_tasks', { rejection: 'task_not_found' }, { namespace: 'foreign' });

  expect(() => judge([submitted('t'), foreign, got('t', 'queued')])).not.toThrow();
});

const KEY = { dedupeKey: 'k' };

test('a key gives the same task, and refuses another input (I7)', () => {
  const refused = [
    { kind: 'submit', tasks: [{ type: 'a', input: 2, ...KEY }] },
    409,
    { error: { message: '/0/dedupeKey was used with another input' } },
  ] as unknown as Heard;
  judge([submitted('t', 'queued', false, KEY), submitted('t', 'leased', true, KEY), refused]);
  expect(() => judge([refused])).toThrow(/^I7/);
});

test('a second task for a key is noticed (I7)', () => {
  const first = submitted('t', 'queued', false, KEY);
  const second = submitted('u', 'queued', false, KEY);
  expect(() => judge([first, second])).toThrow(/^I7/);
  expect(() => judge([first, submitted('u', 'queued', true, KEY)])).toThrow(/^I7/);
  expect(() => judge([first, second], true)).toThrow(/^I7/);
  const short = { ...KEY, dedupeWindowMs: 1000 };
  const early = submitted('t', 'queued', false, short);
  judge([early, submitted('u', 'queued', false, short)]);
});

test('after a retry with another input, the key is for that input (I7)', () => {
  const first = submitted('t', 'queued', false, KEY);
  const retried = did('retry_tasks', { state: 'queued' }, { ids: ['t'], input: 2 });
  const same = submitted('t', 'queued', true, { ...KEY, input: 2 });
  judge([first, retried, same]);
  expect(() => judge([first, same])).toThrow(/^I7/);
  expect(() => judge([first, retried, submitted('t', 'queued', true, KEY)])).toThrow(/^I7/);
});

test('a submit without an answer may have taken the key (I7)', () => {
  const lost = [{ kind: 'submit', tasks: [{ type: 'a', input: 1, ...KEY }] }, 0, undefined];

  expect(() =>
    judge([lost as unknown as Heard, submitted('t', 'queued', true, KEY)]),
  ).not.toThrow();
});
