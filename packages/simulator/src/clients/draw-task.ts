import type { TaskRequest } from '@sluice/protocol';
import type { RandomStream } from '../kernel/random.ts';
import { RECEIVER_URLS } from '../receivers/sim-receivers.ts';

export const TASK_TYPES = ['a', 'b', 'c'];

/** What the input of a simulated task tells its handler to do. */
export interface TaskInput {
  /** Unique among all tasks of all clients. */
  readonly n: number;
  readonly runMs: number;
  readonly end: 'succeeded' | 'failed' | 'failed for good' | 'retry after' | 'later' | 'hangs';
  readonly padding?: string;
  /** The output of the task of a step. */
  readonly gives?: unknown;
  /** Whether the output is a blob. */
  readonly inBlob?: boolean;
}

const RESOURCES = [{}, {}, {}, { cpu: 0.5 }, { cpu: 2, memoryMb: 100 }, { slots: 3 }, { gpu: 1 }];
const CONSTRAINTS = [[], [], [], ['zone == a'], ['zone != a'], ['exists ssd']];
export const RETRIES = [
  { maxAttempts: 1 },
  { maxAttempts: 3, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 4, backoff: 'linear', delayMs: 300, maxDelayMs: 700, jitter: false },
  { maxAttempts: 5, backoff: 'exponential', delayMs: 100, maxDelayMs: 5000, jitter: false },
  { maxAttempts: 3, backoff: 'exponential', delayMs: 500, maxDelayMs: 5000, jitter: true },
  { delaysMs: [100, 0, 900], jitter: false },
] as const;
export const TIMEOUTS = [
  {},
  {},
  {},
  { queueMs: 2000 },
  { runMs: 1000 },
  { heartbeatMs: 2000 },
  { totalMs: 20_000 },
  { queueMs: 10_000, runMs: 5000, heartbeatMs: 4000, totalMs: 60_000 },
];
const ENDS: readonly TaskInput['end'][] = [
  'succeeded',
  'succeeded',
  'succeeded',
  'succeeded',
  'succeeded',
  'succeeded',
  'failed',
  'failed',
  'failed for good',
  'retry after',
  'later',
  'hangs',
];

export function drawInput(random: RandomStream, n: number): TaskInput {
  return {
    n,
    runMs: Math.round(random.logarithmic(1, 8000)),
    end: random.pick(ENDS),
    ...(random.chance(0.1) ? { padding: 'x'.repeat(random.integer(1, 3000)) } : {}),
  };
}

/** A random task, as a client submits it. */
export function drawTask(random: RandomStream, n: number): TaskRequest {
  const input = drawInput(random, n);
  const request: Record<string, unknown> = {
    type: random.pick(TASK_TYPES),
    input,
    retry: random.pick(RETRIES),
  };
  if (random.chance(0.4)) request.priority = random.integer(0, 8);
  if (random.chance(0.25)) request.delayMs = Math.round(random.logarithmic(1, 30_000));
  if (random.chance(0.3)) request.resources = random.pick(RESOURCES);
  if (random.chance(0.2)) request.constraints = random.pick(CONSTRAINTS);
  if (random.chance(0.3)) request.timeouts = random.pick(TIMEOUTS);
  if (random.chance(0.2)) request.tags = { customer: random.pick(['ada', 'bob']) };
  if (random.chance(0.2)) request.callback = drawCallback(random);
  return request as unknown as TaskRequest;
}

const TOLD = [
  ['running', 'succeeded', 'failed', 'timed_out', 'expired', 'cancelled'],
  ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'],
  ['running'],
  ['failed', 'cancelled'],
];

function drawCallback(random: RandomStream): object {
  return { url: random.pick(RECEIVER_URLS), on: random.pick(TOLD) };
}
