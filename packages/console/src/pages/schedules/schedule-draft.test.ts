import { describe, expect, test } from 'vitest';
import { type Draft, draftOf, NEW_DRAFT, requestOf } from './schedule-draft.ts';
import type { Schedule } from './spec-words.ts';

const draft = (change: Partial<Draft>): Draft => ({ ...NEW_DRAFT, name: 'greet', ...change });

describe('every kind of times', () => {
  const at = new Date(2026, 10, 20, 8, 30).toISOString();

  test.each<[Partial<Draft>, object]>([
    [
      { kind: 'cron', cron: '0 3 * * *' },
      { cron: '0 3 * * *', timeZone: 'UTC' },
    ],
    [
      { kind: 'every', everySeconds: '1.5' },
      { everyMs: 1500, mode: 'fixedRate' },
    ],
    [
      { kind: 'every', everySeconds: '60', startAt: '2026-11-20T08:30' },
      { everyMs: 60_000, mode: 'fixedRate', startAt: at },
    ],
    [
      { kind: 'delay', everySeconds: '60' },
      { everyMs: 60_000, mode: 'fixedDelay' },
    ],
    [{ kind: 'once', at: '2026-11-20T08:30' }, { at }],
    [
      { kind: 'permanent', replicas: '3' },
      { permanent: true, replicas: 3 },
    ],
  ])('%j is %j, and back', (change, spec) => {
    const request = requestOf(draft(change), undefined);

    expect(request?.spec).toEqual(spec);
    const back = draftOf({ id: 'a', ...request } as Schedule);
    expect(requestOf(back, undefined)?.spec).toEqual(spec);
  });

  test('a permanent schedule has none of the choices that it would refuse', () => {
    const request = requestOf(draft({ kind: 'permanent' }), undefined);

    expect(Object.keys(request ?? {}).sort()).toEqual(['paused', 'spec', 'task']);
  });

  test('a form that is not complete is no request', () => {
    expect(requestOf(draft({ name: '' }), undefined)).toBeUndefined();
    expect(requestOf(draft({ kind: 'once', at: '' }), undefined)).toBeUndefined();
    expect(requestOf(draft({ kind: 'every', everySeconds: '0' }), undefined)).toBeUndefined();
    expect(requestOf(draft({ input: '{' }), undefined)).toBeUndefined();
  });
});

test('what a schedule makes is a task, a run or a program, and the rest of it stays', () => {
  const old = {
    id: 'a',
    spec: { cron: '0 3 * * *' },
    task: { type: 'command', exec: { command: ['true'] }, priority: 7 },
    window: { from: '2026-01-01T00:00:00Z' },
    paused: true,
  } as unknown as Schedule;

  const asIs = requestOf(draftOf(old), old);
  const asTask = requestOf({ ...draftOf(old), makes: 'task', name: 'greet' }, old);
  const asRun = requestOf({ ...draftOf(old), makes: 'run', name: 'welcome' }, old);

  expect(asIs).toMatchObject({ task: { exec: { command: ['true'] }, priority: 7 }, paused: true });
  expect(asIs?.task).not.toHaveProperty('type');
  expect(asTask?.task).toEqual({ type: 'greet', input: {}, priority: 7 });
  expect(asRun).toMatchObject({ run: { workflow: 'welcome' }, window: old.window });
  expect(asRun).not.toHaveProperty('task');
});
