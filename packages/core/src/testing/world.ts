import { expect } from 'vitest';
import type { AttachSessionReply, SubmitTasksReply } from '../command.ts';
import type { SessionId, TaskNumber } from '../ids.ts';
import { describeState } from './describe-state.ts';
import type { ModelSession } from './model-matching.ts';
import { keyOf, type ModelTask } from './model-task.ts';
import { type ModelOffer, PartitionModel } from './partition-model.ts';
import { TestPartition } from './test-partition.ts';
import type { TestOffer, TestReport } from './test-requests.ts';
import { testUtf8 } from './test-utf8.ts';
import { type Action, GRACE_MS, LIMITS, RULES } from './world-actions.ts';
import { NOTHING_DONE, operateOnQueue, operateOnTask, readmit } from './world-operations.ts';

/** A partition and its model, which get the same commands. */
export class World {
  readonly partition = new TestPartition(LIMITS, { matching: RULES });
  readonly model = new PartitionModel(LIMITS, RULES);
  /** What submits were answered. */
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
    else if ('operate' in action) this.operate(() => operateOnTask(this, action.operate));
    else if ('queue' in action) this.operate(() => operateOnQueue(this, action.queue));
    else if ('readmit' in action) this.operate(() => readmit(this, action.readmit));
    else if ('resume' in action) this.resume(action);
    else if ('report' in action) this.report(action);
    else if ('disconnect' in action) this.disconnect(action);
    else if ('detach' in action) this.detach(action.detach);
    else if ('drain' in action) this.drain(action.drain);
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
    expect(byNumber.map(({ input }) => input)).toEqual(expected.map((t) => bytesOf(t.input)));
    expect(byNumber.map(({ result }) => result)).toEqual(expected.map((t) => bytesOf(t.result)));
    expect(byNumber.map(({ tags }) => tags)).toEqual(expected.map((t) => textOf(t.tags)));
    expect(byNumber.map(({ stop }) => stop)).toEqual(expected.map((t) => t.stop?.reason ?? ''));
    for (const { type, dead, paused } of queues) {
      const ofType = model.dead.filter((task) => task.type === type);
      expect(dead).toEqual(ofType.map((task) => task.number));
      expect(paused).toBe(model.pausedQueues.has(type));
    }
    expect(partition.state.deadLetters.dropped).toBe(model.dropped);
    expect([...partition.state.redrives.entries()].map(([number]) => number)).toEqual(
      model.redrives.map(({ number }) => number),
    );
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
    const list = tasks.map(({ dedupe, ...task }) => ({
      ...task,
      ...(dedupe === undefined ? {} : { dedupe }),
    }));
    const { namespace } = this.partition;
    const keyed = list.map((task) => ({ ...task, type: keyOf(namespace, task.type) }));
    const expected = this.model.submit(keyed, this.time);
    const reply = this.partition.submit(...list);
    for (const task of this.model.tasks) {
      if (!this.ids.has(task.number)) this.ids.set(task.number, this.partition.id(task.number));
    }
    this.met.add(typeof expected === 'string' ? expected : 'accepted');
    expect(reply.rejection ?? this.answersOf(reply)).toEqual(expected);
    this.follow();
  }

  /** Answers what was refused, or which operation it was, for the list of what was met. */
  private operate(operation: () => string): void {
    const met = operation();
    if (met === NOTHING_DONE) return;
    this.met.add(met);
    this.follow();
    this.model.hasRested = false;
  }

  private answersOf({ slots, known }: SubmitTasksReply): [number, boolean][] {
    return slots.map((slot, place) => {
      const before = known?.get(place);
      if (before !== undefined) this.met.add('deduplicated');
      return [before?.number ?? this.partition.state.tasks.number[slot], before !== undefined];
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

function bytesOf(text: string): number[] {
  return [...testUtf8.encode(text)];
}

function textOf(tags: Readonly<Record<string, string>>): string {
  const names = Object.keys(tags).sort();
  return names.length === 0
    ? ''
    : JSON.stringify(Object.fromEntries(names.map((name) => [name, tags[name]])));
}
