import { expect } from 'vitest';
import type { AttachSessionReply, SubmitTasksReply } from '../command.ts';
import type { SessionId, TaskNumber } from '../ids.ts';
import { TASK_STATES } from '../task-state.ts';
import { describeState } from './describe-state.ts';
import { textsOf } from './model-bytes.ts';
import type { ModelSession } from './model-matching.ts';
import type { ModelOffer } from './model-sessions.ts';
import { keyOf, type ModelState, type ModelTask, type SubmittedTask } from './model-task.ts';
import { PartitionModel, type SubmitAnswer } from './partition-model.ts';
import { TestPartition } from './test-partition.ts';
import type { TestOffer, TestReport } from './test-requests.ts';
import { testUtf8 } from './test-utf8.ts';
import type { Action } from './world-actions.ts';
import { GRACE_MS, LIMITS, RULES } from './world-arbitraries.ts';
import { operateOnTasks } from './world-operations.ts';
import { defineType, operateOnQueue } from './world-queues.ts';
import { readmit } from './world-readmission.ts';

/** A partition and its model, which get the same commands. */
export class World {
  readonly partition = new TestPartition(LIMITS, { matching: RULES });
  readonly model = new PartitionModel(LIMITS, RULES);
  /** What commands did and were answered, in words. */
  readonly met = new Set<string>();
  /** Where the input of each task lies. */
  private readonly places = new Map<number, number>();
  /** Sessions that were refused. */
  turnedAway = 0;
  /** Every session and lease that ever was. */
  private readonly sessionIds: SessionId[] = [];
  private readonly namespaces = new Map<SessionId, string>();
  private readonly leases: string[] = [];
  /** The id of every task that ever was. */
  readonly ids = new Map<number, string>();
  /** What the column said of the dedupe key of each. */
  readonly keyEntries = new Map<number, number>();
  /** Time of the newest command since the last restart. */
  private latest = 0;

  /** When a command happens: never before one that was there first (P2). */
  get time(): number {
    return Math.max(this.partition.now, this.partition.state.now, this.latest);
  }

  act(action: Action): void {
    this.partition.namespace = 'namespace' in action ? action.namespace : 'default';
    if ('submit' in action) this.submit(action.submit);
    else if ('attach' in action) this.attach(action.attach);
    else if ('operate' in action) this.operate(() => operateOnTasks(this, action.operate));
    else if ('queue' in action) this.operate(() => operateOnQueue(this, action.queue));
    else if ('define' in action) this.operate(() => defineType(this, action.define));
    else if ('readmit' in action) this.operate(() => readmit(this, action.readmit));
    else if ('resume' in action) this.resume(action);
    else if ('report' in action) this.report(action);
    else if ('disconnect' in action) this.disconnect(action);
    else if ('detach' in action) this.detach(action.detach);
    else if ('drain' in action) this.drain(action.drain);
    else if ('read' in action) this.read(action);
    else if ('hear' in action) this.hear();
    else if ('expireAfterMs' in action) this.expire(action.expireAfterMs);
    else if ('advanceAfterMs' in action) this.advance(action.advanceAfterMs);
    else if ('snapshot' in action) this.partition.snapshot();
    else if ('grantsLeases' in action) this.grantLeases(action.grantsLeases);
    else this.restart(action);
  }

  compare(): void {
    const { model, partition } = this;
    if (partition.grantsLeases) expect(model.missingPushes(this.latest)).toEqual([]);
    else expect(partition.pushes).toEqual([]);
    const { tasks: described, finished, queues } = describeState(partition.state);
    const byNumber = described.toSorted((a, b) => a.number - b.number);
    const expected = model.tasks.toSorted((a, b) => a.number - b.number);
    expect(byNumber.map(visible)).toEqual(expected.map(visible));
    expect(byNumber.map(({ input }) => input)).toEqual(expected.map((t) => encoded(t.input)));
    expect(byNumber.map(({ result }) => result)).toEqual(expected.map((t) => encoded(t.result)));
    const texts = byNumber.map(({ shape, retry, timeouts, tags }) => {
      return { shape, retry, timeouts, tags };
    });
    expect(texts).toEqual(expected.map(textsOf));
    expect(partition.state.heldBytes).toBe(model.heldBytes);
    expect(byNumber.map(({ stop }) => stop)).toEqual(expected.map((t) => t.stop?.reason ?? ''));
    for (const { type, dead, paused } of queues) {
      const ofType = model.dead.filter((task) => task.type === type);
      expect(dead).toEqual(ofType.map((task) => task.number));
      expect(paused).toBe(model.pausedQueues.has(type));
    }
    expect(partition.state.deadLetters.dropped).toBe(model.dropped);
    expect([...partition.state.redrives.entries()].map(([n, { nextAt }]) => [n, nextAt])).toEqual(
      model.redrives.map(({ number, nextAt }) => [number, nextAt]),
    );
    expect([...partition.state.taskTypes.keys()].sort()).toEqual(
      [...model.definitions.keys()].sort(),
    );
    expect(partition.state.dedupe.count).toBe(model.keys.count);
    expect(finished).toEqual(model.finished.map((task) => task.number));
    expect(partition.sessionCount).toBe(model.sessions.length);
    const live = model.idle.length + model.waiting.length + model.held.length;
    const over = model.dead.length + finished.length + model.forgotten;
    expect(model.accepted).toBe(live + over);
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
    const { namespace, state } = this.partition;
    const list = tasks.map((task) => this.said(task));
    const keyed = list.map((task) => ({ ...task, type: keyOf(namespace, task.type) }));
    const expected = this.model.submit(keyed, this.time);
    const reply = this.partition.submit(...list);
    for (const task of this.model.tasks) {
      if (this.ids.has(task.number)) continue;
      this.ids.set(task.number, this.partition.id(task.number));
      const slot = state.tasks.find(task.number as TaskNumber);
      this.keyEntries.set(task.number, state.tasks.dedupe[slot]);
    }
    this.met.add(typeof expected === 'string' ? expected : 'accepted');
    expect(reply.rejection ?? this.answersOf(reply)).toEqual(expected);
    this.follow();
  }

  /** A task without what it leaves to its type; how to retry, only if the type says that. */
  private said({ unsaid, dedupe, ...task }: Submit): SubmittedTask {
    const definition = this.model.definitions.get(keyOf(this.partition.namespace, task.type)) ?? {};
    const parts = unsaid.filter((part) => part !== 'retry' || part in definition);
    if (parts.some((part) => part in definition)) this.met.add('default of a type');
    const said = Object.entries(task).filter(([part]) => !parts.some((each) => each === part));
    return {
      ...(Object.fromEntries(said) as typeof task),
      ...(dedupe === undefined ? {} : { dedupe }),
    };
  }

  /** Notes what was met, and looks at what became of it; without anything met nothing was done. */
  private operate(operation: () => readonly string[]): void {
    const met = operation();
    if (met.length === 0) return;
    for (const what of met) this.met.add(what);
    this.follow();
    this.model.hasRested = false;
  }

  private answersOf({ slots, known }: SubmitTasksReply): SubmitAnswer[] {
    return slots.map((slot, place) => {
      const before = known?.get(place);
      if (before === undefined) return [this.partition.state.tasks.number[slot]];
      this.met.add('deduplicated');
      return [before.number, TASK_STATES[before.state] as ModelState];
    });
  }

  private attach(offer: ModelOffer): void {
    this.welcome(this.partition.attach(testOffer(offer)), offer);
    this.follow();
  }

  private resume(action: Extract<Action, { resume: number }>): void {
    const id = this.anySession(action.resume);
    const session = this.known(id);
    this.partition.namespace = this.namespaceOf(id);
    const kept = this.model.heldBy(id).filter((_, index) => action.keep[index] ?? true);
    const running = [
      ...kept.map((task) => task.lease ?? ''),
      ...action.extra.map((choice) => this.anyLease(choice)),
    ];
    const reply = this.partition.resume(id, running, testOffer(action.offer));
    const offer = { ...this.keyed(action.offer), heardAt: this.time };
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
  private welcome(reply: AttachSessionReply, offer: ModelOffer): void {
    const { rejection, session, connection } = reply;
    expect(rejection).toBe(this.model.isFull ? 'too_many_sessions' : undefined);
    if (rejection !== undefined) {
      this.turnedAway += 1;
      return;
    }
    this.sessionIds.push(session);
    this.namespaces.set(session, this.partition.namespace);
    this.model.attach({ id: session, ...this.keyed(offer), connection, heardAt: this.time });
  }

  private keyed(offer: ModelOffer): ModelOffer {
    const { namespace } = this.partition;
    const types = offer.types.map((each) => ({ ...each, type: keyOf(namespace, each.type) }));
    return { ...offer, types };
  }

  private namespaceOf(session: SessionId): string {
    return this.namespaces.get(session) ?? 'default';
  }

  private report(action: Extract<Action, { report: number }>): void {
    const id = this.anySession(action.report);
    this.partition.namespace = this.namespaceOf(id);
    const list = action.reports.map((report): TestReport => {
      const { kind, payload } = report;
      const failure = kind === 'failed' ? report.failure : {};
      return { kind, payload, lease: this.leaseFor(id, report.of), ...failure };
    });
    const { capacity } = action;
    const more = capacity === undefined ? {} : { capacity };
    const expected = this.model.report(id, { reports: list, ...more }, this.time);
    expect(this.partition.reportWith(id, list, capacity)).toEqual(expected);
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
    this.partition.namespace = this.namespaceOf(id);
    expect(this.partition.detach(id)).toBe(session !== undefined);
    if (session !== undefined) this.model.end([session], 'handed_back', this.time);
    this.follow();
  }

  private drain(choice: number): void {
    const id = this.anySession(choice);
    const session = this.known(id);
    this.partition.namespace = this.namespaceOf(id);
    expect(this.partition.drain(id)).toBe(session !== undefined);
    if (session !== undefined) {
      session.draining = true;
      this.met.add('drained');
    }
    this.follow();
  }

  private read({ read, share, late }: Extract<Action, { read: number }>): void {
    const id = this.anySession(read);
    const session = this.known(id);
    const connection = (session?.connection ?? 1) - (late ? 1 : 0);
    const bytes = Math.round((session?.unsentBytes ?? 0) * share);
    this.partition.read(id, connection, bytes);
    if (session !== undefined) this.model.read(session, connection, bytes);
    this.follow();
  }

  private hear(): void {
    this.model.hear(this.time);
    this.partition.hear();
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
    this.model.end(inOrder, 'worker_lost', this.time);
    this.follow();
  }

  private advance(passedMs: number): void {
    this.partition.now += passedMs;
    this.model.advance(this.time);
    this.partition.advance();
    this.follow();
  }

  /** What waited for leases to be granted gets them with the next command, whichever it is. */
  private grantLeases(grantsLeases: boolean): void {
    if (!grantsLeases) this.met.add('leases held back');
    this.model.hasRested = grantsLeases && !this.partition.grantsLeases;
    this.partition.grantsLeases = grantsLeases;
    this.advance(0);
    this.model.hasRested = false;
  }

  private restart(action: Extract<Action, { restartAfterMs: number }>): void {
    this.compareWithReplay();
    this.partition.now += action.restartAfterMs;
    this.partition.restart(GRACE_MS, action);
    this.latest = 0;
    this.model.restart(this.time, GRACE_MS);
    this.model.reserved = new Map();
  }

  /** Tells the model what was pushed. */
  private follow(): void {
    const { model, partition, time } = this;
    model.reservedBefore = model.reserved;
    model.reserved = partition.reservations();
    if (model.reserved.size > 0) this.met.add('reserved');
    for (const push of partition.pushes) {
      this.leases.push(push.lease);
      const kept = [...model.reservedBefore].find(([, task]) => task === push.task);
      if (kept?.[0] === push.session) this.met.add('given what was reserved');
      if (model.isAgedTurn(push, time)) this.met.add('aged');
      model.push(push, time);
    }
    for (const number of partition.ended) {
      if (!model.waiting.some((task) => task.number === number)) continue;
      model.expire(number, time);
      this.met.add('expired instead of leased');
    }
    expect(model.reservationProblems(time)).toEqual([]);
    this.latest = time;
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

type Submit = Extract<Action, { submit: unknown }>['submit'][number];

function testOffer({ labels, ...offer }: ModelOffer): TestOffer {
  return { ...offer, labels: Object.fromEntries(labels) };
}

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

function encoded(text: string): number[] {
  return [...testUtf8.encode(text)];
}
