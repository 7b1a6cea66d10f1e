import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AttachSessionReply, ReportKind, SubmitTasksReply } from './command.ts';
import type { SessionId, TaskNumber } from './ids.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { describeState } from './testing/describe-state.ts';
import type { ModelSession } from './testing/model-room.ts';
import type { ModelTask } from './testing/model-task.ts';
import { PartitionModel } from './testing/partition-model.ts';
import { TestPartition, type TestReport } from './testing/test-partition.ts';
import { testUtf8 } from './testing/test-utf8.ts';

const LIMITS = {
  tasksMax: 20,
  finishedTasksMax: 5,
  sessionsMax: 5,
  dedupeKeysMax: 7,
  payloadBytesMax: 100_000,
  unsentBytesMax: 100_000,
  // Payloads are moved all the time, a few after each command.
  arenaChunkBytes: 64,
  arenaCompaction: { liveShareMin: 1, slackChunks: 0, entriesMax: 3, bytesMax: 30 },
};
const TYPES = ['a', 'b', 'c'];
const KINDS: readonly ReportKind[] = ['started', 'heartbeat', 'succeeded', 'failed'];
const GRACE_MS = 6000;

const offers = fc.record({
  types: fc.subarray(TYPES, { minLength: 1 }),
  slots: fc.integer({ min: 1, max: 4 }),
  leaseMs: fc.constantFrom(3000, 5000),
});

const POLICIES: readonly RetryPolicy[] = [
  { maxAttempts: 1, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 3, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
  { maxAttempts: 4, backoff: 'linear', delayMs: 300, maxDelayMs: 700, jitter: false },
  { maxAttempts: 5, backoff: 'exponential', delayMs: 100, maxDelayMs: 500, jitter: false },
  { delaysMs: [100, 0, 900], jitter: false },
];

const tasks = fc.record({
  type: fc.constantFrom(...TYPES),
  priority: fc.oneof(fc.constant(4), fc.nat(8)),
  input: fc.string({ maxLength: 40 }),
  delayMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3000 })),
  retry: fc.constantFrom(...POLICIES),
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

const actions = fc.oneof(
  { weight: 6, arbitrary: fc.record({ submit: fc.array(tasks, { minLength: 1, maxLength: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ attach: offers }) },
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
    }),
  },
  { weight: 2, arbitrary: fc.record({ disconnect: fc.nat(20), late: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ detach: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ expireAfterMs: fc.constantFrom(0, 1000, 3000, 6000) }) },
  { weight: 5, arbitrary: fc.record({ advanceAfterMs: fc.constantFrom(0, 100, 1000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      restartAfterMs: fc.constantFrom(0, 10_000),
      fromSnapshot: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ snapshot: fc.constant(true) }) },
);

/** The clock may be set back. */
const passedMs = fc.integer({ min: -300, max: 900 });

type Action = typeof actions extends fc.Arbitrary<infer T> ? T : never;

test('a partition does what its model says and comes back whole from its log and snapshots', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.array(fc.tuple(actions, passedMs), { minLength: 10, maxLength: 60, size: 'max' }),
      (steps) => {
        const world = new World();
        for (const [action, passed] of steps) {
          world.partition.now += passed;
          world.act(action);
          world.compare();
        }
        world.compareWithReplay();
        for (const task of world.model.tasks) seen.add(`${task.state} ${task.reason}`);
        if (world.model.forgotten > 0) seen.add('forgotten');
        for (const what of world.met) seen.add(what);
        if (world.turnedAway > 0) seen.add('turned away');
      },
    ),
    { numRuns: 150 },
  );

  expect([...seen]).toEqual(expect.arrayContaining(EVERYTHING));
});

/** What the runs above must have met, or they show less than they seem to. */
const EVERYTHING = [
  'waiting delayed',
  'waiting backoff',
  'queued due',
  'queued submitted',
  'queued worker_lost',
  'queued handed_back',
  'queued not_arrived',
  'leased leased',
  'running started',
  'succeeded succeeded',
  'failed failed',
  'failed worker_lost',
  'forgotten',
  'too_many_tasks',
  'too_many_keys',
  'dedupe_mismatch',
  'deduplicated',
  'turned away',
  'payload moved',
];

/** A partition and its model, which get the same commands. */
class World {
  readonly partition = new TestPartition(LIMITS);
  readonly model = new PartitionModel(LIMITS);
  /** What submits were answered. */
  readonly met = new Set<string>();
  /** Where the input of each task lies. */
  private readonly places = new Map<number, number>();
  /** Sessions that were refused. */
  turnedAway = 0;
  /** Every session and lease that ever was. */
  private readonly sessionIds: SessionId[] = [];
  private readonly leases: string[] = [];
  /** Time of the newest command since the last restart. */
  private latest = 0;

  /** When a command happens: never before one that was there first (P2). */
  private get time(): number {
    return Math.max(this.partition.now, this.partition.state.now, this.latest);
  }

  act(action: Action): void {
    if ('submit' in action) this.submit(action.submit);
    else if ('attach' in action) this.attach(action.attach);
    else if ('resume' in action) this.resume(action);
    else if ('report' in action) this.report(action);
    else if ('disconnect' in action) this.disconnect(action);
    else if ('detach' in action) this.detach(action.detach);
    else if ('expireAfterMs' in action) this.expire(action.expireAfterMs);
    else if ('advanceAfterMs' in action) this.advance(action.advanceAfterMs);
    else if ('snapshot' in action) this.partition.snapshot();
    else this.restart(action);
  }

  compare(): void {
    const { model, partition } = this;
    expect(model.missingPushes()).toEqual([]);
    const { tasks: described, finished } = describeState(partition.state);
    const byNumber = described.toSorted((a, b) => a.number - b.number);
    expect(byNumber.map(visible)).toEqual(model.tasks.map(visible));
    expect(byNumber.map(({ input }) => input)).toEqual(model.tasks.map((t) => bytesOf(t.input)));
    expect(byNumber.map(({ result }) => result)).toEqual(model.tasks.map((t) => bytesOf(t.result)));
    expect(finished).toEqual(model.finished.map((task) => task.number));
    expect(partition.sessionCount).toBe(model.sessions.length);
    const live = model.sleeping.length + model.waiting.length + model.held.length;
    expect(model.accepted).toBe(live + finished.length + model.forgotten);
    expect(partition.state.nextTask).toBe(model.accepted + 1);
    this.lookForMoves();
  }

  compareWithReplay(): void {
    for (const other of [this.partition.replayed(), this.partition.restored()]) {
      expect(describeState(other.state)).toEqual(describeState(this.partition.state));
      expect(other.hashState()).toBe(this.partition.hashState());
    }
  }

  private lookForMoves(): void {
    const { tasks } = this.partition.state;
    for (const { number } of this.model.tasks) {
      const place = tasks.input[tasks.find(number as TaskNumber)];
      if (place !== (this.places.get(number) ?? place)) this.met.add('payload moved');
      this.places.set(number, place);
    }
  }

  private submit(tasks: readonly Submit[]): void {
    const list = tasks.map(({ dedupe, ...task }) => ({
      ...task,
      ...(dedupe === undefined ? {} : { dedupe }),
    }));
    const expected = this.model.submit(list, this.time);
    const reply = this.partition.submit(...list);
    this.met.add(typeof expected === 'string' ? expected : 'accepted');
    expect(reply.rejection ?? this.answersOf(reply)).toEqual(expected);
    this.follow();
  }

  private answersOf({ slots, known }: SubmitTasksReply): [number, boolean][] {
    return slots.map((slot, place) => {
      const before = known?.get(place);
      if (before !== undefined) this.met.add('deduplicated');
      return [before?.number ?? this.partition.state.tasks.number[slot], before !== undefined];
    });
  }

  private attach(offer: Offer): void {
    this.welcome(this.partition.attach(offer), offer);
    this.follow();
  }

  private resume(action: Extract<Action, { resume: number }>): void {
    const id = this.anySession(action.resume);
    const session = this.known(id);
    const kept = this.model.heldBy(id).filter((_, index) => action.keep[index] ?? true);
    const running = [
      ...kept.map((task) => task.lease ?? ''),
      ...action.extra.map((choice) => this.anyLease(choice)),
    ];
    const reply = this.partition.resume(id, running, action.offer);
    const offer = { ...action.offer, heardAt: this.time };
    expect(reply.resumed).toBe(session !== undefined);
    if (session === undefined) {
      this.welcome(reply, action.offer);
      if (reply.rejection === undefined) expect(reply.lost).toEqual(running);
    } else {
      expect(reply.lost).toEqual(this.model.resume(session, running, offer));
      expect(reply.connection).toBeGreaterThan(session.connection);
      session.connection = reply.connection;
    }
    this.follow();
  }

  /** A new session, unless there are too many. */
  private welcome(reply: AttachSessionReply, offer: Offer): void {
    const { rejection, session, connection } = reply;
    expect(rejection).toBe(this.model.isFull ? 'too_many_sessions' : undefined);
    if (rejection !== undefined) {
      this.turnedAway += 1;
      return;
    }
    this.sessionIds.push(session);
    this.model.attach({ id: session, ...offer, connection, heardAt: this.time });
  }

  private report(action: Extract<Action, { report: number }>): void {
    const id = this.anySession(action.report);
    const list = action.reports.map((report): TestReport => {
      const { kind, payload } = report;
      const failure = kind === 'failed' ? report.failure : {};
      return { kind, payload, lease: this.leaseFor(id, report.of), ...failure };
    });
    const expected = this.model.report(id, list, this.time);
    expect(this.partition.report(id, ...list)).toEqual(expected);
    this.follow();
  }

  private disconnect(action: Extract<Action, { disconnect: number }>): void {
    const id = this.anySession(action.disconnect);
    const session = this.known(id);
    const connection = (session?.connection ?? 1) - (action.late ? 1 : 0);
    this.partition.disconnect(id, connection);
    if (session !== undefined) this.model.disconnect(session, connection, this.time);
    this.follow();
  }

  private detach(choice: number): void {
    const id = this.anySession(choice);
    const session = this.known(id);
    expect(this.partition.detach(id)).toBe(session !== undefined);
    if (session !== undefined) this.model.end([session], 'handed_back');
    this.follow();
  }

  private expire(passedMs: number): void {
    this.partition.now += passedMs;
    const lost = this.model.lostAt(this.time);
    this.partition.expire();
    const { closed } = this.partition;
    expect([...closed].toSorted()).toEqual(lost.map((session) => session.id).toSorted());
    // In which order sessions are lost that are lost together is up to the partition.
    const inOrder = lost.toSorted((a, b) => closed.indexOf(a.id) - closed.indexOf(b.id));
    this.model.end(inOrder, 'worker_lost');
    this.follow();
  }

  private advance(passedMs: number): void {
    this.partition.now += passedMs;
    this.model.advance(this.time);
    this.partition.advance();
    this.follow();
  }

  private restart(action: Extract<Action, { restartAfterMs: number }>): void {
    this.compareWithReplay();
    this.partition.now += action.restartAfterMs;
    this.partition.restart(GRACE_MS, action);
    this.latest = 0;
    this.model.restart(this.time, GRACE_MS);
  }

  /** Tells the model what was pushed. */
  private follow(): void {
    for (const push of this.partition.pushes) {
      this.leases.push(push.lease);
      this.model.push(push, this.time);
    }
    this.latest = this.time;
  }

  private known(id: SessionId): ModelSession | undefined {
    return this.model.sessions.find((session) => session.id === id);
  }

  private anySession(choice: number): SessionId {
    return this.sessionIds[choice % this.sessionIds.length] ?? ('nobody' as SessionId);
  }

  private anyLease(choice: number): string {
    return this.leases[choice % this.leases.length] ?? 'l_none';
  }

  private leaseFor(
    id: SessionId,
    of: { own: number } | { any: number } | { text: string },
  ): string {
    if ('text' in of) return of.text;
    if ('any' in of) return this.anyLease(of.any);
    const held = this.model.heldBy(id);
    return held[of.own % held.length]?.lease ?? this.anyLease(of.own);
  }
}

type Submit = typeof tasks extends fc.Arbitrary<infer T> ? T : never;

type Offer = Pick<ModelSession, 'types' | 'slots' | 'leaseMs'>;

function visible(task: Pick<ModelTask, 'number' | 'type' | 'priority'> & Visible): string {
  const { number, type, priority, state, reason, attempt, session } = task;
  return `${number} ${type}/${priority} ${state} ${reason} ${attempt} ${session ?? 'nobody'}`;
}

interface Visible {
  readonly state: string;
  readonly reason: string;
  readonly attempt: number;
  readonly session: string | null | undefined;
}

function bytesOf(text: string): number[] {
  return [...testUtf8.encode(text)];
}
