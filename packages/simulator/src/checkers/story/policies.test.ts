import { expect, test } from 'vitest';
import {
  attemptsMax,
  backoffRange,
  lackingKind,
  meets,
  needsOf,
  timeoutsOf,
  totalDeadline,
} from './policies.ts';

test('attempts are what the policy says, one more than the ladder has rungs, or three', () => {
  expect(attemptsMax('')).toBe(3);
  expect(attemptsMax('{"maxAttempts":7}')).toBe(7);
  expect(attemptsMax('{"delaysMs":[1,2]}')).toBe(3);
});

test('backoff grows by its rule up to its cap, and jitter adds a quarter at the most', () => {
  const rule = (backoff: string) => JSON.stringify({ backoff, delayMs: 100, jitter: false });
  expect(backoffRange(rule('fixed'), 3).least).toBe(100);
  expect(backoffRange(rule('linear'), 3).least).toBe(300);
  expect(backoffRange(rule('exponential'), 3)).toEqual({ least: 400, most: 400 });
  expect(backoffRange('', 2)).toEqual({ least: 2000, most: 2500 });
  expect(backoffRange('', 20).least).toBe(60_000);
  expect(backoffRange('{"delaysMs":[5,90000]}', 2).least).toBe(90_000);
});

test('what no timeout limits is not limited', () => {
  expect(timeoutsOf('{"runMs":5}')).toMatchObject({ runMs: 5, queueMs: Number.POSITIVE_INFINITY });
  const task = { timeouts: '{"totalMs":10}', submittedAt: 100, retriedAt: 0 };
  expect(totalDeadline(task)).toBe(110);
  expect(totalDeadline({ ...task, retriedAt: 500 })).toBe(510);
});

test('needs add up, and what is not stated is unlimited or nothing', () => {
  const plain = needsOf('');
  const big = needsOf('{"resources":{"cpu":0.5,"gpu":1,"custom":{"licence":1}}}');
  expect(lackingKind({ slots: 2 }, [plain, plain])).toBeUndefined();
  expect(lackingKind({ slots: 2 }, [plain, plain, plain])).toBe('slots');
  expect(lackingKind({ slots: 2 }, [big])).toBe('gpu');
  expect(lackingKind({ slots: 2, gpu: 1 }, [big])).toBe('custom licence');
  const offer = { slots: 2, cpu: 0.9, gpu: 2, custom: { licence: 2 } };
  expect(lackingKind(offer, [big])).toBeUndefined();
  expect(lackingKind(offer, [big, big])).toBe('cpu');
});

test('constraints ask for labels', () => {
  const labels = new Map([['zone', 'eu']]);
  const cases = {
    'zone == eu': true,
    'zone != eu': false,
    'zone in (us, eu)': true,
    'zone not in (us, eu)': false,
    'exists zone': true,
    'exists ssd': false,
    'ssd != yes': true,
    'ssd == yes': false,
    'ssd not in (yes)': true,
  };
  for (const [constraint, holds] of Object.entries(cases)) {
    expect([constraint, meets(labels, constraint)]).toEqual([constraint, holds]);
  }
});
