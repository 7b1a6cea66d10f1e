import { CALLBACK_TASK_TYPE, type Event, TASK_STATES } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { hasEnded, isHeld, namespaceOf, type TaskStory } from '../story/task-story.ts';

/** Events that record a change by an operator, of one task or of no task. */
const CHANGES: readonly Event['type'][] = [
  'attempt_stopping',
  'task_ended',
  'task_patched',
  'task_paused',
  'task_resumed',
  'task_retried',
  'task_readmitted',
  'queue_changed',
  'task_type_changed',
  'redrive_started',
  'redrive_ended',
  'dead_letter_dropped',
];

interface Outcome {
  readonly rejection?: string;
}

interface Reply extends Outcome {
  readonly outcomes?: readonly Outcome[];
  readonly redrive?: number;
  readonly found?: boolean;
  readonly discarded?: number;
}

/**
 * I42: a change that was acknowledged to an operator has exactly one event, a change of nothing and
 * one that was refused have none. A refusal must be true.
 */
export class Administration implements StoryRule {
  private readonly story: LogStory;
  /** Number of change events that each task must have. Key 0 counts events without a task. */
  private expected = new Map<number, number>();
  private found = new Map<number, number>();
  /**
   * Refusals that were wrong for the state before the command. They are checked again at its end.
   */
  private doubtful: (() => string | undefined)[] = [];

  constructor(story: LogStory) {
    this.story = story;
  }

  begins({ command, reply }: ToldCommand): void {
    this.expected = new Map();
    this.found = new Map();
    this.doubtful = [];
    if (!isAdministration(command)) return;
    const answer = reply as Reply;
    const outcomes = answer.outcomes ?? [answer];
    idsOf(command).forEach((id, place) => {
      const task = this.story.get(id);
      const { rejection } = outcomes[place];
      if (rejection !== undefined) this.doubt(command, id, rejection);
      else if (task === undefined)
        this.fail(`${command.type} of ${id} is done, and nobody knows it`);
      else if (changes(command, task, place)) this.expect(command, task.number);
    });
    const others = countOthers(command, answer, this.story);
    if (others > 0) this.expected.set(0, others);
  }

  event(event: Event, task: TaskStory | undefined, { command }: ToldCommand): void {
    if (!isAdministration(command) || !CHANGES.includes(event.type)) return;
    if (event.type === 'dead_letter_dropped' && event.isOverflow) return;
    if (isExpiry(event, task)) return;
    // Any command may go on with what is to be done for runs.
    const isCallback = task?.queue === CALLBACK_TASK_TYPE;
    const isByRun = isCallback || this.story.stoppingRuns.has(task?.run ?? 0);
    if (task !== undefined && isByRun && !idsOf(command).includes(task.id)) return;
    const isOfAll = command.type === 'discard_dead_letters';
    const who = task === undefined || isOfAll ? 0 : task.number;
    this.found.set(who, (this.found.get(who) ?? 0) + 1);
  }

  ends({ command }: ToldCommand): void {
    if (!isAdministration(command)) return;
    for (const task of new Set([...this.expected.keys(), ...this.found.keys()])) {
      const expected = this.expected.get(task) ?? 0;
      const found = this.found.get(task) ?? 0;
      if (expected === found) continue;
      const who = task === 0 ? '' : ` of task ${task}`;
      this.fail(`${command.type}${who} has ${found} events, not ${expected}`);
    }
    for (const problem of this.doubtful) {
      const what = problem();
      if (what !== undefined) this.fail(what);
    }
  }

  /**
   * A command may patch a task twice. Any other change that it repeats is made once. A retry with
   * another input is two events.
   */
  private expect(command: Administering, task: number): void {
    const isPatch = command.type === 'patch_tasks';
    const before = isPatch ? (this.expected.get(task) ?? 0) : 0;
    const hasInput = command.type === 'retry_tasks' && command.input !== undefined;
    this.expected.set(task, before + (hasInput ? 2 : 1));
  }

  /** A command may name an id twice. The second refusal then depends on the effect of the first. */
  private doubt(command: Administering, id: string, rejection: string): void {
    const holds = () => isSo(this.story.get(id), command, rejection);
    if (holds()) return;
    this.doubtful.push(() => {
      const phase = this.story.get(id)?.phase;
      return holds() ? undefined : `${command.type} of ${id} is ${rejection}, and it is ${phase}`;
    });
  }

  private fail(what: string): void {
    this.story.simulation.check(false, 'I42', what);
  }
}

type Administering = Extract<ToldCommand['command'], { readonly type: (typeof COMMANDS)[number] }>;

const COMMANDS = [
  'cancel_tasks',
  'patch_tasks',
  'pause_task',
  'resume_task',
  'retry_tasks',
  'end_task',
  'set_queue_paused',
  'start_redrive',
  'end_redrive',
  'discard_dead_letters',
] as const;

function isAdministration(command: ToldCommand['command']): command is Administering {
  return (COMMANDS as readonly string[]).includes(command.type);
}

/** Any command may expire an overdue task instead of leasing it, whatever tasks it names. */
function isExpiry(event: Event, task: TaskStory | undefined): boolean {
  if (event.type !== 'task_ended' || task?.phase !== 'queued') return false;
  return TASK_STATES[event.state] === 'expired';
}

function idsOf(command: Administering): readonly string[] {
  if ('ids' in command) return command.ids;
  if ('patches' in command) return command.patches.map(({ id }) => id);
  return 'id' in command ? [command.id] : [];
}

/** Whether an acknowledged command has to change this task. */
function changes(command: Administering, task: TaskStory, place: number): boolean {
  switch (command.type) {
    case 'cancel_tasks':
      return task.phase !== 'cancelled' && !(isHeld(task) && task.isCancelAsked);
    case 'pause_task':
      return task.phase !== 'paused';
    case 'resume_task':
      return task.phase === 'paused';
    case 'patch_tasks': {
      const { id: _, hasInput, ...rest } = command.patches[place];
      return hasInput === true || Object.values(rest).some((value) => value !== undefined);
    }
    default:
      return true;
  }
}

/** Number of events that the command must have for no task that it names. */
function countOthers(command: Administering, reply: Reply, story: LogStory): number {
  switch (command.type) {
    case 'set_queue_paused': {
      const { namespace, taskType } = command;
      const key = namespace === 'default' ? taskType : `${namespace}/${taskType}`;
      const isSame = story.pausedQueues.has(key) === command.paused;
      return reply.rejection !== undefined || isSame ? 0 : 1;
    }
    case 'start_redrive':
      return reply.rejection === undefined ? 1 : 0;
    case 'end_redrive':
      return reply.found === true ? 1 : 0;
    case 'discard_dead_letters':
      return reply.discarded ?? 0;
    default:
      return 0;
  }
}

/** Whether a refusal is true. */
function isSo(
  task: TaskStory | undefined,
  { namespace }: Administering,
  rejection: string,
): boolean {
  const isGone = task === undefined || task.isForgotten || task.hasLeftRun;
  const isThere = !isGone && namespaceOf(task) === namespace;
  if (rejection === 'task_not_found') return !isThere;
  if (isGone || !isThere) return false;
  switch (rejection) {
    case 'task_finished':
      return hasEnded(task);
    case 'task_not_finished':
      return !hasEnded(task);
    case 'task_of_run':
      return task.run !== 0;
    case 'task_running':
      return isHeld(task) || task.phase === 'deferred';
    default:
      return true;
  }
}
