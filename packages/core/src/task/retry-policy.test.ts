import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs, jitterOf, parseRetry, type RetryPolicy, retryText } from './retry-policy.ts';

function delays(policy: RetryPolicy, count: number): number[] {
  const resolved = parseRetry(retryText({ jitter: false, ...policy }));
  return Array.from({ length: count }, (_, index) => backoffMs(resolved, index + 1, 0));
}

test('without a policy: three attempts, exponential from a second to a minute, with jitter', () => {
  expect(parseRetry(retryText(undefined))).toEqual({
    maxAttempts: 3,
    backoff: 'exponential',
    delayMs: 1000,
    maxDelayMs: 60_000,
    jitter: true,
    delaysMs: undefined,
  });
});

test('a fixed backoff waits the same each time', () => {
  expect(delays({ backoff: 'fixed', delayMs: 70 }, 3)).toEqual([70, 70, 70]);
});

test('a linear backoff waits d, 2d, 3d', () => {
  expect(delays({ backoff: 'linear', delayMs: 70 }, 3)).toEqual([70, 140, 210]);
});

test('an exponential backoff doubles, up to its cap', () => {
  const policy = { backoff: 'exponential', delayMs: 100, maxDelayMs: 500 } as const;

  expect(delays(policy, 5)).toEqual([100, 200, 400, 500, 500]);
});

test('a delay above the default cap is kept, unless the policy has a cap', () => {
  expect(delays({ delayMs: 120_000 }, 2)).toEqual([120_000, 120_000]);
  expect(delays({ delayMs: 120_000, maxDelayMs: 70_000 }, 2)).toEqual([70_000, 70_000]);
  expect(delays({ maxDelayMs: 500 }, 2)).toEqual([500, 500]);
});

test('a ladder waits as its rungs say and allows one attempt more than it has', () => {
  expect(delays({ delaysMs: [5000, 10_000] }, 2)).toEqual([5000, 10_000]);
  expect(delays({ delaysMs: [600_000, 3_600_000] }, 2)).toEqual([600_000, 3_600_000]);
  expect(parseRetry(retryText({ delaysMs: [5000, 10_000] })).maxAttempts).toBe(3);
});

test('jitter adds up to a quarter and never subtracts', () => {
  const policy = parseRetry(retryText({ backoff: 'fixed', delayMs: 1000 }));
  fc.assert(
    fc.property(fc.integer(), fc.nat(1000), (seed, index) => {
      const jitter = jitterOf(seed, index);
      expect(jitter).toBeGreaterThanOrEqual(0);
      expect(jitter).toBeLessThan(1);
      const delayMs = backoffMs(policy, 1, jitter);
      expect(delayMs).toBeGreaterThanOrEqual(1000);
      expect(delayMs).toBeLessThanOrEqual(1250);
    }),
  );
});

test('tasks that fail in one report do not all come back at the same moment', () => {
  const jitters = Array.from({ length: 100 }, (_, index) => jitterOf(12345, index));

  expect(new Set(jitters.map((jitter) => Math.floor(jitter * 10))).size).toBe(10);
});

test('the same policy has the same text, whatever the order of its fields', () => {
  expect(retryText({ delayMs: 1, maxAttempts: 2 })).toBe(retryText({ maxAttempts: 2, delayMs: 1 }));
});
