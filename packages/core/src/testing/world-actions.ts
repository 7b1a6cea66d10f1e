import fc from 'fast-check';
import type { ReportKind } from '../command.ts';
import type { Resources } from '../resources.ts';
import type { RetryPolicy } from '../retry-policy.ts';
import type { Offer } from '../room.ts';
import type { Timeouts } from '../timeouts.ts';
import type { ModelOffer } from './partition-model.ts';

export const LIMITS = {
  tasksMax: 20,
  finishedTasksMax: 5,
  deadLettersMax: 2,
  sessionsMax: 5,
  dedupeKeysMax: 7,
  payloadBytesMax: 100_000,
  unsentBytesMax: 100_000,
  // Payloads are moved all the time, a few after each command.
  arenaChunkBytes: 64,
  arenaCompaction: { liveShareMin: 1, slackChunks: 0, entriesMax: 3, bytesMax: 30 },
};
const TYPES = ['a', 'b', 'c'];
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

const namespaces = fc.constantFrom(...NAMESPACES);

/** Short enough for every rule to come up within a few seconds. */
export const RULES = { reserveAfterMs: 1500, ageAfterMs: 2500, agedLeaseEvery: 3 };

const NEEDS: readonly Resources[] = [
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
  ['zone == a'],
  ['zone != a'],
  ['exists ssd', 'zone in (a, b)'],
  ['zone not in (b, c)'],
];

const capacities: fc.Arbitrary<Offer> = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  cpu: fc.constantFrom(1, 2, 2.5),
  gpu: fc.constantFrom(0, 1),
  custom: fc.constantFrom({}, { licence: 0.2 }),
});

const offers: fc.Arbitrary<ModelOffer> = fc.record({
  types: fc
    .subarray(TYPES, { minLength: 1 })
    .chain((types) =>
      fc.tuple(
        ...types.map((type) =>
          fc.constantFrom({ type }, { type }, { type, concurrency: 1 }, { type, concurrency: 2 }),
        ),
      ),
    ),
  capacity: capacities,
  labels: fc.constantFrom(
    new Map(),
    new Map([['zone', 'a']]),
    new Map([
      ['zone', 'b'],
      ['ssd', 'yes'],
    ]),
  ),
  leaseMs: fc.constantFrom(3000, 5000),
});

const POLICIES: readonly RetryPolicy[] = [
  { maxAttempts: 1, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 3, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 4, backoff: 'linear', delayMs: 300, maxDelayMs: 700, jitter: false },
  { maxAttempts: 5, backoff: 'exponential', delayMs: 100, maxDelayMs: 500, jitter: false },
  { delaysMs: [100, 0, 900], jitter: false },
];

const timeouts = fc.constantFrom<Timeouts>(
  {},
  {},
  {},
  { queueMs: 400 },
  { runMs: 600 },
  { heartbeatMs: 500 },
  { totalMs: 1500 },
  { queueMs: 1000, runMs: 2000, heartbeatMs: 900, totalMs: 5000 },
);

const tasks = fc.record({
  type: fc.constantFrom(...TYPES),
  priority: fc.oneof(fc.constant(4), fc.nat(8)),
  input: fc.string({ maxLength: 40 }),
  delayMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3000 }), fc.constant(30_000)),
  resources: fc.constantFrom(...NEEDS),
  constraints: fc.constantFrom(...CONSTRAINTS),
  retry: fc.constantFrom(...POLICIES),
  timeouts,
  tags: fc.constantFrom({}, { customer: 'ada' }, { customer: 'bob', region: 'eu' }),
  dedupe: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({
        key: fc.nat(5),
        body: fc.constantFrom(1, 1, 1, 2),
        windowMs: fc.constantFrom(500, 3000),
      }),
    },
  ),
});

/** `of` picks a lease: mostly one that the session holds, else any that ever was, or garbage. */
const reports = fc.record({
  kind: fc.constantFrom(...KINDS),
  of: fc.oneof(
    { weight: 5, arbitrary: fc.record({ own: fc.nat(5) }) },
    { weight: 2, arbitrary: fc.record({ any: fc.nat(200) }) },
    { weight: 1, arbitrary: fc.record({ text: fc.constantFrom('', 'l_', 'l_garbage') }) },
  ),
  payload: fc.string({ maxLength: 40 }),
  failure: fc.constantFrom({}, {}, {}, { retryable: false }, { retryAfterMs: 250 }),
});

const patches = fc.record(
  {
    priority: fc.constantFrom(null, 0, 8),
    runAt: fc.constantFrom(null, -500, 700),
    input: fc.string({ maxLength: 20 }),
    timeouts: fc.constantFrom(null, { totalMs: 900 }, { totalMs: null, queueMs: 300 }),
    tags: fc.constantFrom(null, { customer: null }, { region: 'us' }),
  },
  { requiredKeys: [] },
);

/** What operators do to the task that `of` picks; now and then under another namespace. */
const operations = fc.record({
  of: fc.nat(200),
  isForeign: fc.nat(9).map((n) => n === 0),
  operation: fc.oneof(
    { weight: 2, arbitrary: fc.record({ cancel: fc.constantFrom(0, 500, 10_000) }) },
    { weight: 2, arbitrary: fc.record({ pause: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ retry: fc.constant(true) }) },
    { weight: 1, arbitrary: fc.record({ end: fc.constantFrom('succeeded', 'failed') }) },
    { weight: 3, arbitrary: fc.record({ patch: patches }) },
  ),
});

/** What operators do to queues and dead letters of a type, or of all types of the namespace. */
const queueOperations = fc.record({
  type: fc.constantFrom(...TYPES),
  isForAll: fc.boolean(),
  operation: fc.constantFrom('pause', 'resume', 'resume', 'redrive', 'redrive', 'discard'),
  ratePerSec: fc.constantFrom(1, 5, 100),
});

export const actions = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      namespace: namespaces,
      submit: fc.array(tasks, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ namespace: namespaces, attach: offers }) },
  {
    weight: 2,
    arbitrary: fc.record({
      resume: fc.nat(20),
      keep: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      extra: fc.array(fc.nat(200), { maxLength: 2 }),
      offer: offers,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      report: fc.nat(20),
      reports: fc.array(reports, { maxLength: 5 }),
      capacity: fc.oneof(
        { weight: 4, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: capacities },
      ),
    }),
  },
  { weight: 6, arbitrary: fc.record({ operate: operations }) },
  { weight: 2, arbitrary: fc.record({ namespace: namespaces, queue: queueOperations }) },
  { weight: 1, arbitrary: fc.record({ readmit: fc.nat(200) }) },
  { weight: 2, arbitrary: fc.record({ disconnect: fc.nat(20), late: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ detach: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ drain: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ expireAfterMs: fc.constantFrom(0, 1000, 3000, 6000) }) },
  { weight: 5, arbitrary: fc.record({ advanceAfterMs: fc.constantFrom(0, 100, 1000, 10_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      restartAfterMs: fc.constantFrom(0, 10_000),
      fromSnapshot: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ snapshot: fc.constant(true) }) },
  { weight: 2, arbitrary: fc.record({ grantsLeases: fc.constantFrom(true, true, false) }) },
);

/** Few kinds of shapes and much waiting, so that the finer rules of matching come up. */
export const matchingActions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      namespace: fc.constant('default'),
      submit: fc.array(
        tasks.map((task) => ({ ...task, delayMs: 0, timeouts: {}, dedupe: undefined })),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ namespace: fc.constant('default'), attach: offers }) },
  {
    weight: 8,
    arbitrary: fc.record({
      report: fc.nat(5),
      reports: fc.array(
        fc.record({
          kind: fc.constantFrom<ReportKind>('succeeded', 'succeeded', 'failed', 'refused'),
          of: fc.record({ own: fc.nat(5) }),
          payload: fc.constant(''),
          failure: fc.constant({}),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      capacity: fc.oneof(
        { weight: 9, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: capacities },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ operate: operations }) },
  { weight: 1, arbitrary: fc.record({ drain: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ advanceAfterMs: fc.constantFrom(100, 1000) }) },
);

/** The clock may be set back. */
export const passedMs = fc.integer({ min: -300, max: 900 });

export type Action = typeof actions extends fc.Arbitrary<infer T> ? T : never;
