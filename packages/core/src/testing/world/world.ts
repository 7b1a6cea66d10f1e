import { expect } from 'vitest';
import type { SessionId, TaskNumber } from '../../base/ids.ts';
import type { RecordBackup } from '../../commands/backup/record-backup.ts';
import type { ResetAfterRestore } from '../../commands/backup/reset-after-restore.ts';
import { describeState } from '../describe-state.ts';
import { compareWithModel } from '../follow/compare-model.ts';
import { ModelFollower } from '../follow/follow-model.ts';
import type { ModelSession } from '../model/model-matching.ts';
import type { ModelOffer } from '../model/model-sessions.ts';
import { keyOf } from '../model/model-task.ts';
import type { PartitionModel } from '../model/partition-model.ts';
import { TestPartition } from '../test-partition.ts';
import type { TestOffer, TestReport, TestTask } from '../test-requests.ts';
import { operateOnAccess } from './world-access.ts';
import type { Action } from './world-actions.ts';
import { GRACE_MS, LIMITS, RULES } from './world-arbitraries.ts';
import { operateOnCallbacks } from './world-callbacks.ts';
import { operateOnTasks } from './world-operations.ts';
import { defineType, operateOnQueue } from './world-queues.ts';
import { readmit } from './world-readmission.ts';

/** A partition that gets random commands, and a model that follows it. */
export class World {
  readonly follower = new ModelFollower(LIMITS, RULES);
  readonly model: PartitionModel = this.follower.model;
  /** What commands did and replied, in words. */
  readonly met = this.follower.met;
  readonly partition = new TestPartition(LIMITS, {
    matching: RULES,
    watch: (carried) => {
      this.leases.push(...carried.pushes.map(({ lease }) => lease));
      this.follower.follow(carried);
    },
  });
  /** Arena reference of each task's input. */
  private readonly places = new Map<number, number>();
  /** All sessions and leases so far. */
  private readonly sessionIds: SessionId[] = [];
  private readonly namespaces = new Map<SessionId, string>();
  private readonly leases: string[] = [];
  /** Number of resumes with a number so far. */
  private resumes = 0;
  /** The ids of all tasks so far. */
  readonly ids = new Map<number, string>();
  /** Value of the `dedupe` column of each task. */
  readonly keyEntries = new Map<number, number>();

  act(action: Action): void {
    this.partition.namespace = 'namespace' in action ? action.namespace : 'default';
    if ('submit' in action) this.submit(action);
    else if ('attach' in action) this.attach(action.attach);
    else if ('operate' in action) operateOnTasks(this, action.operate);
    else if ('queue' in action) operateOnQueue(this, action.queue);
    else if ('define' in action) defineType(this, action.define);
    else if ('access' in action) operateOnAccess(this, action.access);
    else if ('callback' in action) operateOnCallbacks(this, action.callback);
    else if ('readmit' in action) readmit(this, action.readmit);
    else if ('resume' in action) this.resume(action);
    else if ('report' in action) this.report(action);
    else if ('disconnect' in action) this.disconnect(action);
    else if ('detach' in action) this.detach(action.detach);
    else if ('drain' in action) this.drain(action.drain);
    else if ('read' in action) this.read(action);
    else if ('hear' in action) this.partition.hear();
    else if ('expireAfterMs' in action) this.expire(action.expireAfterMs);
    else if ('advanceAfterMs' in action) this.advance(action.advanceAfterMs);
    else if ('backup' in action) this.backUp(action.backup);
    else if ('snapshot' in action) this.partition.snapshot();
    else if ('grantsLeases' in action) this.grantLeases(action.grantsLeases);
    else this.restart(action);
  }

  compare(): void {
    compareWithModel(this.partition, this.model);
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

  private submit({ submit: tasks, request }: Extract<Action, { submit: unknown }>): void {
    const { state } = this.partition;
    const said = tasks.map((task) => this.said(task));
    const plain = said.map(({ dedupe: _, ...task }) => task);
    this.partition.submitAs(request, request === undefined ? said : plain);
    for (const { number } of this.model.tasks) {
      if (this.ids.has(number)) continue;
      this.ids.set(number, this.partition.id(number));
      this.keyEntries.set(number, state.tasks.dedupe[state.tasks.find(number as TaskNumber)]);
    }
  }

  /**
   * The task without the fields that it leaves to its type. `retry` is left out only if the type
   * has it.
   */
  private said({ unsaid, dedupe, ...task }: Submit): TestTask {
    const definition = this.model.definitions.get(keyOf(this.partition.namespace, task.type)) ?? {};
    const parts = unsaid.filter((part) => part !== 'retry' || part in definition);
    const said = Object.entries(task).filter(
      ([part, value]) => value !== undefined && !parts.some((each) => each === part),
    );
    return { ...Object.fromEntries(said), ...(dedupe === undefined ? {} : { dedupe }) };
  }

  private attach(offer: ModelOffer): void {
    this.remember(this.partition.attach(testOffer(offer)).session);
  }

  private resume(action: Extract<Action, { resume: number }>): void {
    const session = this.anySession(action.resume);
    this.partition.namespace = this.namespaceOf(session);
    const kept = this.model.heldBy(session).filter((_, index) => action.keep[index] ?? true);
    const running = [
      ...kept.map((task) => task.lease ?? ''),
      ...action.extra.map((choice) => this.anyLease(choice)),
    ];
    const number = Math.max(1, this.resumes + action.count);
    this.resumes = Math.max(this.resumes, number);
    const counted = action.count === 0 ? {} : { number };
    const resume = { session, running, ...counted };
    this.remember(this.partition.attach({ ...testOffer(action.offer), resume }).session);
  }

  /** A refused session has no id. */
  private remember(session: SessionId): void {
    if (session === '' || this.namespaces.has(session)) return;
    this.sessionIds.push(session);
    this.namespaces.set(session, this.partition.namespace);
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
      const usage = payload.length % 2 === 1 ? { usage: { wallMs: payload.length, cpuMs: 0 } } : {};
      return { kind, payload, lease: this.leaseFor(id, report.of), ...failure, ...usage };
    });
    this.partition.reportWith(id, list, action.capacity, action.types);
  }

  private disconnect(action: Extract<Action, { disconnect: number }>): void {
    const id = this.anySession(action.disconnect);
    const { connection = 1 } = this.known(id) ?? {};
    this.partition.disconnect(id, connection - (action.late ? 1 : 0));
  }

  private detach(choice: number): void {
    const id = this.anySession(choice);
    this.partition.namespace = this.namespaceOf(id);
    this.partition.detach(id);
  }

  private drain(choice: number): void {
    const id = this.anySession(choice);
    this.partition.namespace = this.namespaceOf(id);
    this.partition.drain(id);
  }

  private read({ read, share, late }: Extract<Action, { read: number }>): void {
    const id = this.anySession(read);
    const { connection = 1, unsentBytes = 0 } = this.known(id) ?? {};
    this.partition.read(id, connection - (late ? 1 : 0), Math.round(unsentBytes * share));
  }

  private expire(passedMs: number): void {
    this.partition.now += passedMs;
    this.partition.expire();
  }

  private advance(passedMs: number): void {
    this.partition.now += passedMs;
    this.partition.advance();
  }

  private backUp(action: 'take' | 'begin again'): void {
    if (action === 'take') this.partition.operate<RecordBackup>({ type: 'record_backup' });
    else
      this.partition.operate<ResetAfterRestore>({
        type: 'reset_after_restore',
        leasesSkipped: 2 ** 40,
        deliveriesSkipped: 2 ** 20,
      });
  }

  /**
   * Tasks that waited while leases were not granted get them with the next command, of any kind.
   */
  private grantLeases(grantsLeases: boolean): void {
    this.partition.grantsLeases = grantsLeases;
    this.advance(0);
  }

  private restart(action: Extract<Action, { restartAfterMs: number }>): void {
    const { partition } = this;
    this.compareWithReplay();
    partition.now += action.restartAfterMs;
    partition.restart(GRACE_MS, action);
    this.follower.restart(Math.max(partition.now, partition.state.now), GRACE_MS);
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
