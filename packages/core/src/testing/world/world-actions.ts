import fc from 'fast-check';
import type { ReportKind } from '../../commands/attempts/report-attempts.ts';
import { accessOperations } from './world-access.ts';
import {
  capacities,
  definitions,
  namespaces,
  offeredTypes,
  offers,
  payloads,
  reports,
  requestKeys,
  TYPES,
  tasks,
} from './world-arbitraries.ts';
import { callbackOperations } from './world-callbacks.ts';

/** One more than a task may have. */
const MANY_TAGS = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`tag${n}`, 'x']));

const patches = fc.record(
  {
    priority: fc.constantFrom(null, 0, 8),
    runAt: fc.constantFrom(null, -500, 700),
    input: payloads,
    timeouts: fc.constantFrom(null, { totalMs: 900 }, { totalMs: null, queueMs: 300 }),
    tags: fc.constantFrom(null, null, { customer: null }, { region: 'us' }, MANY_TAGS),
  },
  { requiredKeys: [] },
);

/** Some exceed the limit of unread bytes. */
const words = fc.nat(1600).map((length) => 'x'.repeat(length));

const targets = fc.oneof(
  { weight: 6, arbitrary: fc.nat(200) },
  { weight: 1, arbitrary: fc.constantFrom('again', 'unknown') },
);

/** Operations on the tasks that `of` picks, sometimes under another namespace. */
const operations = fc.record({
  of: fc.oneof(
    fc.array(targets, { minLength: 1, maxLength: 1 }),
    fc.array(targets, { minLength: 2, maxLength: 5 }),
  ),
  isForeign: fc.nat(9).map((n) => n === 0),
  operation: fc.oneof(
    { weight: 2, arbitrary: fc.record({ cancel: fc.constantFrom(0, 500, 10_000) }) },
    { weight: 4, arbitrary: fc.record({ pause: fc.boolean() }) },
    {
      weight: 3,
      arbitrary: fc.record({ retry: fc.option(fc.record({ input: payloads, hash: fc.nat(2) })) }),
    },
    { weight: 1, arbitrary: fc.record({ end: fc.constantFrom('succeeded', 'failed') }) },
    {
      weight: 3,
      arbitrary: fc.record({ patch: fc.array(patches, { minLength: 1, maxLength: 3 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        signal: fc.record({
          name: fc.constantFrom('go', 'change'),
          data: words,
        }),
      }),
    },
  ),
});

/** Operations on queues and dead letters of a type, or of all types of the namespace. */
const queueOperations = fc.record({
  type: fc.constantFrom(...TYPES),
  isForAll: fc.boolean(),
  operation: fc.constantFrom(
    'pause',
    'resume',
    'resume',
    'redrive',
    'redrive',
    'end redrive',
    'discard',
    'discard',
  ),
  ratePerSec: fc.constantFrom(1, 5, 100),
});

const typeDefinitions = fc.record({
  type: fc.constantFrom(...TYPES),
  definition: fc.oneof(
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: definitions },
  ),
});

/** A worker reads a part of its pushed data, or reports more than that. */
const reads = fc.record({
  read: fc.nat(20),
  share: fc.constantFrom(0.5, 1, 1, 2),
  late: fc.nat(5).map((n) => n === 0),
});

export const actions = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      namespace: namespaces,
      submit: fc.array(tasks, { minLength: 1, maxLength: 6 }),
      request: requestKeys,
    }),
  },
  { weight: 3, arbitrary: fc.record({ namespace: namespaces, attach: offers }) },
  {
    weight: 2,
    arbitrary: fc.record({
      resume: fc.nat(20),
      keep: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      extra: fc.array(fc.nat(200), { maxLength: 2 }),
      // Change of the resume number; 0 for a resume without a number.
      count: fc.constantFrom(0, 0, 1, 1, 2, -1),
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
      types: fc.oneof(
        { weight: 6, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: offeredTypes },
      ),
    }),
  },
  { weight: 8, arbitrary: fc.record({ operate: operations }) },
  { weight: 4, arbitrary: fc.record({ namespace: namespaces, queue: queueOperations }) },
  { weight: 2, arbitrary: fc.record({ namespace: namespaces, define: typeDefinitions }) },
  { weight: 3, arbitrary: fc.record({ namespace: namespaces, access: accessOperations }) },
  { weight: 4, arbitrary: fc.record({ namespace: namespaces, callback: callbackOperations }) },
  {
    weight: 2,
    arbitrary: fc.record({
      readmit: fc.record({
        of: fc.nat(200),
        isKeyed: fc.boolean(),
        isInMemory: fc.nat(9).map((n) => n === 0),
        changed: fc.option(fc.record({ input: payloads, hash: fc.nat(2) })),
      }),
    }),
  },
  { weight: 4, arbitrary: reads },
  { weight: 1, arbitrary: fc.record({ hear: fc.constant(true) }) },
  { weight: 2, arbitrary: fc.record({ disconnect: fc.nat(20), late: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ detach: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ drain: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ expireAfterMs: fc.constantFrom(0, 1000, 3000, 6000) }) },
  {
    weight: 5,
    arbitrary: fc.record({ advanceAfterMs: fc.constantFrom(0, 100, 100, 1000, 10_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      restartAfterMs: fc.constantFrom(0, 10_000),
      fromSnapshot: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ snapshot: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.record({ backup: fc.constantFrom('take', 'begin again') }) },
  { weight: 2, arbitrary: fc.record({ grantsLeases: fc.constantFrom(true, true, false) }) },
);

/** Few shapes and much waiting, so that the finer rules of matching apply. */
export const matchingActions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      namespace: fc.constant('default'),
      request: fc.constant(undefined),
      submit: fc.array(
        tasks.map((task) => {
          const plain = { timeouts: {}, dedupe: undefined, callback: undefined };
          return { ...task, delayMs: 0, ...plain };
        }),
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
      types: fc.constant(undefined),
    }),
  },
  { weight: 1, arbitrary: fc.record({ operate: operations }) },
  { weight: 1, arbitrary: fc.record({ drain: fc.nat(20) }) },
  { weight: 4, arbitrary: reads },
  { weight: 3, arbitrary: fc.record({ advanceAfterMs: fc.constantFrom(100, 1000) }) },
);

/** The clock may be set back. */
export const passedMs = fc.integer({ min: -300, max: 900 });

export type Action = typeof actions extends fc.Arbitrary<infer T> ? T : never;
