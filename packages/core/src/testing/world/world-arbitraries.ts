import fc from 'fast-check';
import type { ReportKind } from '../../commands/attempts/report-attempts.ts';
import {
  EXISTING_DUPLICATE,
  REFUSE_DUPLICATE,
  REPLACE_DUPLICATE,
} from '../../task/dedupe-claim.ts';
import type { Resources } from '../../task/resources.ts';
import type { RetryPolicy } from '../../task/retry-policy.ts';
import type { Callback } from '../../task/task-labels.ts';
import type { Timeouts } from '../../task/timeouts.ts';
import type { Offer } from '../../workers/room.ts';
import type { ModelOffer } from '../model/model-sessions.ts';
import type { ModelDefinition } from '../model/model-task.ts';

export const LIMITS = {
  tasksMax: 20,
  finishedTasksMax: 4,
  deadLettersMax: 2,
  callbacksMax: 2,
  sessionsMax: 5,
  dedupeKeysMax: 4,
  payloadBytesMax: 9000,
  unsentBytesMax: 1500,
  quotas: {
    tasksMax: 12,
    payloadBytesMax: 1000,
    dedupeKeysMax: 4,
    taskTypesMax: 3,
    shapesMax: 1000,
    sessionsMax: 4,
    schedulesMax: 4,
    runsMax: 100,
  },
  // Payloads are moved constantly, a few after each command.
  arenaChunkBytes: 64,
  arenaCompaction: { liveShareMin: 1, slackChunks: 0, entriesMax: 3, bytesMax: 30 },
};
export const TYPES = ['a', 'b', 'c'];
const KINDS: readonly ReportKind[] = [
  'started',
  'heartbeat',
  'progress',
  'succeeded',
  'failed',
  'failed',
  'cancelled',
  'later',
  'refused',
];
const NAMESPACES = ['default', 'default', 'default', 'other'];
export const GRACE_MS = 6000;

export const namespaces = fc.constantFrom(...NAMESPACES);

/** Short enough for every rule to apply within a few seconds. */
export const RULES = { reserveAfterMs: 1500, ageAfterMs: 2500, agedLeaseEvery: 3 };

const NEEDS: readonly Resources[] = [
  {},
  {},
  {},
  {},
  { cpu: 0.5 },
  { cpu: 2, memoryMb: 100 },
  { slots: 3 },
  { gpu: 1 },
  { custom: { licence: 0.1 } },
];

const CONSTRAINTS: readonly (readonly string[])[] = [
  [],
  [],
  [],
  [],
  [],
  [],
  ['zone == a'],
  ['zone != a'],
  ['exists ssd', 'zone in (a, b)'],
  ['zone not in (b, c)'],
];

export const capacities: fc.Arbitrary<Offer> = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  cpu: fc.constantFrom(1, 2, 2.5),
  gpu: fc.constantFrom(0, 1),
  custom: fc.constantFrom({}, { licence: 0.2 }),
});

export const offeredTypes: fc.Arbitrary<ModelOffer['types']> = fc
  .subarray(TYPES, { minLength: 1 })
  .chain((types) =>
    fc.tuple(
      ...types.map((type) =>
        fc.constantFrom<ModelOffer['types'][number]>(
          { type },
          { type },
          { type },
          { type, concurrency: 1 },
          { type, concurrency: 2 },
          { type, unavailable: 'for now' },
        ),
      ),
    ),
  );

export const offers: fc.Arbitrary<ModelOffer> = fc.record({
  types: offeredTypes,
  capacity: capacities,
  labels: fc.constantFrom(
    new Map(),
    new Map([['zone', 'a']]),
    new Map([
      ['zone', 'b'],
      ['ssd', 'yes'],
    ]),
  ),
  // Odd values, too: half of an odd number is not a whole number.
  leaseMs: fc.constantFrom(3000, 3001, 5000, 12_345, 20_000, 20_000),
});

const POLICIES: readonly RetryPolicy[] = [
  { maxAttempts: 1, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 1, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 3, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 4, backoff: 'linear', delayMs: 300, maxDelayMs: 700, jitter: false },
  { maxAttempts: 5, backoff: 'exponential', delayMs: 100, maxDelayMs: 500, jitter: false },
  { maxAttempts: 5, backoff: 'exponential', delayMs: 200, maxDelayMs: 500, jitter: true },
  { delaysMs: [100, 0, 900], jitter: false },
];

const timeouts = fc.constantFrom<Timeouts>(
  {},
  {},
  {},
  {},
  {},
  {},
  { queueMs: 400 },
  { runMs: 600 },
  { runMs: 600 },
  { heartbeatMs: 500 },
  { heartbeatMs: 500 },
  { totalMs: 1500 },
  { queueMs: 1000, runMs: 2000, heartbeatMs: 900, totalMs: 5000 },
);

/** Short enough to fit into a chunk. */
export const payloads = fc.string({ maxLength: 40 });

const priorities = fc.oneof(fc.constant(4), fc.nat(8));
const tags = fc.constantFrom({}, { customer: 'ada' }, { customer: 'bob', region: 'eu' });

const callbacks = fc.constantFrom<Callback>(
  { url: 'http://x', on: ['failed', 'running'] },
  { url: 'http://y', on: ['succeeded', 'timed_out', 'expired', 'cancelled', 'failed'] },
);

/** Defaults of a task type. */
export const definitions: fc.Arbitrary<ModelDefinition> = fc.record(
  {
    priority: priorities,
    resources: fc.constantFrom(...NEEDS),
    constraints: fc.constantFrom(...CONSTRAINTS),
    retry: fc.constantFrom(...POLICIES),
    timeouts,
    tags,
    callback: callbacks,
  },
  { requiredKeys: [] },
);

const PARTS: (keyof ModelDefinition)[] = [
  'priority',
  'resources',
  'constraints',
  'retry',
  'timeouts',
  'tags',
];

export const tasks = fc.record({
  type: fc.constantFrom(...TYPES),
  priority: priorities,
  input: payloads,
  delayMs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 3000 }) },
    { weight: 1, arbitrary: fc.constant(30_000) },
  ),
  resources: fc.constantFrom(...NEEDS),
  constraints: fc.constantFrom(...CONSTRAINTS),
  retry: fc.constantFrom(...POLICIES),
  timeouts,
  tags,
  callback: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: callbacks },
  ),
  /** Fields that the task leaves to its type. */
  unsaid: fc.oneof(fc.constant<typeof PARTS>([]), fc.subarray(PARTS)),
  dedupe: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({
        key: fc.nat(6),
        input: fc.constantFrom(1, 1, 2),
        windowMs: fc.constantFrom(500, 3000, 30_000),
        onDuplicate: fc.constantFrom(
          REFUSE_DUPLICATE,
          EXISTING_DUPLICATE,
          REPLACE_DUPLICATE,
          REPLACE_DUPLICATE,
        ),
      }),
    },
  ),
});

/** The key of a whole request, whose tasks then have none. */
export const requestKeys = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.record({
      key: fc.integer({ min: 7, max: 9 }),
      input: fc.constantFrom(1, 1, 1, 2),
      windowMs: fc.constantFrom(500, 3000, 30_000),
    }),
  },
);

/** `of` picks a lease: mostly one of the session's own, otherwise any earlier one, or garbage. */
export const reports = fc.record({
  kind: fc.constantFrom(...KINDS),
  of: fc.oneof(
    { weight: 5, arbitrary: fc.record({ own: fc.nat(5) }) },
    { weight: 2, arbitrary: fc.record({ any: fc.nat(200) }) },
    { weight: 1, arbitrary: fc.record({ text: fc.constantFrom('', 'l_', 'l_garbage') }) },
  ),
  payload: payloads,
  failure: fc.constantFrom({}, {}, {}, { retryable: false }, { retryAfterMs: 250 }),
});
