import type { AuditRecord, Author, Event } from '@sluice/core';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';

/** Changes that need an audit record. */
const CHANGES: readonly Event['type'][] = [
  'queue_changed',
  'task_type_changed',
  'redrive_started',
  'redrive_ended',
  'dead_letter_dropped',
  'access_key_created',
  'access_key_revoked',
  'workflow_removed',
  'schedule_put',
  'schedule_removed',
  'schedule_fired',
  'backfill_started',
  'backfill_ended',
];

/** Calls about runs. Their effects are events of the run. */
const OF_RUNS: readonly string[] = ['pause_runs', 'operate_step', 'revive_run'];

/**
 * I42: a change that somebody made has one audit record with their name, in the same record of the
 * log; what changed nothing has none; a server that recovers has them all, in order.
 * I39: nobody makes or ends a key of a namespace that is not their own, or the default one's.
 */
export class Audits implements StoryRule {
  private readonly story: LogStory;
  /** The namespace of each key that was created. */
  private readonly keys = new Map<string, string>();
  private readonly told: string[] = [];
  private changes = 0;
  private audits = 0;

  constructor(story: LogStory) {
    this.story = story;
  }

  begins(): void {
    this.changes = 0;
    this.audits = 0;
  }

  event(event: Event, _task: unknown, { command, at }: ToldCommand): void {
    const { simulation } = this.story;
    const isOverflow = event.type === 'dead_letter_dropped' && event.isOverflow;
    const isInput = event.type === 'task_patched' && command.type === 'retry_tasks';
    // A definition that comes with a run is part of its start.
    const isPut = event.type === 'workflow_registered' && command.type === 'put_workflow';
    if (isInput || isPut || (CHANGES.includes(event.type) && !isOverflow)) this.changes += 1;
    if (event.type === 'access_key_created') {
      this.keys.set(event.key, event.namespace);
      this.checkReach(command, event.namespace);
    }
    if (event.type === 'access_key_revoked') {
      this.checkReach(command, this.keys.get(event.key) ?? '');
    }
    if (event.type !== 'audit_recorded') return;
    this.audits += 1;
    this.told.push(textOf(event, at));
    const by = authorOf(command);
    simulation.check(by?.actor === event.actor && by.request === event.request, 'I42', () => {
      return `${command.type} by ${by?.actor} is put down to ${event.actor}`;
    });
  }

  ends({ command, reply }: ToldCommand): void {
    if (authorOf(command) === undefined) return;
    // The drain of a worker is not an event.
    const isDrain = command.type === 'drain_session' && (reply as { found: boolean }).found;
    // Of a run that stops already, nothing but the call is recorded; of a paused schedule likewise.
    if (command.type === 'cancel_runs' || command.type === 'pause_schedules') return;
    if (OF_RUNS.includes(command.type)) return this.checkRunCall(command.type, reply);
    const isRight = isDrain ? this.audits <= 1 : this.audits === Math.min(1, this.changes);
    this.story.simulation.check(isRight, 'I42', () => {
      return `${command.type} changes ${this.changes} things and has ${this.audits} audit records`;
    });
  }

  /** A skip that is planned already changes nothing. */
  private checkRunCall(type: string, reply: unknown): void {
    const { rejection } = reply as { readonly rejection?: string };
    const isRight = this.audits <= (rejection === undefined ? 1 : 0);
    this.story.simulation.check(isRight, 'I42', () => {
      return `${type} answers ${rejection} and has ${this.audits} audit records`;
    });
  }

  booted({ state }: WatchedPartition): void {
    const { audit } = state;
    const kept = [...audit.before(audit.next)].reverse();
    const told = this.told.slice(this.told.length - kept.length);
    const isSame = kept.every((record, place) => textOf(record, record.at) === told[place]);
    this.story.simulation.check(isSame && audit.next === this.told.length + 1, 'I42', () => {
      return `${this.told.length} audit records were made, and the server has ${audit.next - 1}`;
    });
  }

  private checkReach(command: ToldCommand['command'], namespace: string): void {
    const own = 'namespace' in command ? command.namespace : '';
    this.story.simulation.check(own === 'default' || own === namespace, 'I39', () => {
      return `${command.type} in ${own} changes a key of ${namespace}`;
    });
  }
}

function authorOf(command: ToldCommand['command']): Author | undefined {
  return 'by' in command ? command.by : undefined;
}

type Audit = Omit<AuditRecord, 'number' | 'at'>;

function textOf({ namespace, actor, action, subject }: Audit, at: number): string {
  return `${at} ${namespace} ${actor} ${action} ${subject}`;
}
