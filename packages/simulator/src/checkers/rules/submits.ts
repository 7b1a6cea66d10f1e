import {
  type Command,
  type Event,
  EXISTING_DUPLICATE,
  REFUSE_DUPLICATE,
  REPLACE_DUPLICATE,
  type RetryTasks,
  type RetryTasksReply,
  type StartRuns,
  type StartRunsReply,
  type SubmitTasks,
  type SubmitTasksReply,
} from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { namespaceOf, textOf } from '../story/task-story.ts';
import { RequestKeys } from './request-keys.ts';

/** A remembered dedupe key. */
interface Key {
  readonly text: string;
  /** Of the submit that last gave the task its input. */
  input: string;
  readonly task: number;
  readonly expiresAt: number;
}

type Submitted = Extract<Event, { type: 'task_submitted' }>;

type Started = Extract<Event, { type: 'run_started' }>;
type InputChanged = Extract<Event, { type: 'dedupe_input_changed' }>;
type Claim = NonNullable<ReturnType<typeof claimOf>>;

/** The two halves of a claim: the key's hash and the input's. */
const HALF = 4;

/**
 * I2: the log holds what clients submitted, each task as it was sent.
 * I7: the same key within its window gives the same task; with another input it is refused, unless
 * the submit accepts or replaces that task. A window is neither cut short nor extended.
 */
export class Submits implements StoryRule {
  private readonly story: LogStory;
  private readonly byText = new Map<string, Key>();
  private readonly byTask = new Map<number, Key>();
  private readonly requests: RequestKeys;
  /** Positions of the tasks that the command must accept and has not accepted yet. */
  private due: number[] = [];
  /** The input that each key must stand for at the end of the command that replaces it. */
  private readonly replaced = new Map<Key, string>();
  /** A task type definition may supply what the task leaves out. */
  private hasDefinitions = false;

  constructor(story: LogStory) {
    this.story = story;
    this.requests = new RequestKeys((holds, what) => this.check(holds, 'I7', what));
  }

  begins({ command, reply, at }: ToldCommand): void {
    this.replaced.clear();
    if (command.type === 'retry_tasks') this.retried(command, reply as RetryTasksReply);
    if (command.type === 'start_runs') this.started(command, reply as StartRunsReply, at);
    if (command.type !== 'submit_tasks') return;
    const answer = reply as SubmitTasksReply;
    this.due = [];
    if (this.requests.begins(command, answer, at)) return;
    if (answer.rejection === 'dedupe_mismatch') this.mismatch(command, answer, at);
    if (answer.rejection !== undefined) return;
    const first = new Map<string, number>();
    command.tasks.forEach((_, place) => {
      const claim = claimOf(command, place);
      const before = claim === undefined ? undefined : this.remembered(claim.text, at);
      const isRepeated = claim !== undefined && first.has(claim.text);
      if (before === undefined && !isRepeated) this.due.push(place);
      if (claim !== undefined && !isRepeated) first.set(claim.text, place);
      const known = answer.known?.get(place)?.number;
      if (before !== undefined && claim !== undefined) {
        this.sameTask(before, known, claim);
        if (claim.policy === REPLACE_DUPLICATE) this.replaced.set(before, claim.input);
      } else {
        this.check((known !== undefined) === isRepeated, 'I7', () => {
          return `task ${place} of a submit is ${known ?? 'new'}, and its key is not known`;
        });
      }
    });
  }

  event(event: Event, _task: unknown, { command, at }: ToldCommand): void {
    if (event.type === 'task_type_changed') this.hasDefinitions = true;
    if (event.type === 'dedupe_forgotten') this.forgotten(event.task, at);
    if (event.type === 'request_remembered') this.requests.remembered(event, at);
    if (event.type === 'dedupe_input_changed') this.inputChanged(event, command);
    if (event.type === 'run_started') this.runStarted(event, command, at);
    if (event.type !== 'task_submitted' || command.type !== 'submit_tasks') return;
    const place = this.due.shift();
    this.requests.stored(event.task);
    this.check(place !== undefined, 'I2', () => `task ${event.task} is one too many`);
    if (place === undefined) return;
    this.asSent(event, command, place);
    this.claim(event, at);
  }

  /** A key of a run gives the same run within its window. */
  private started(command: StartRuns, reply: StartRunsReply, at: number): void {
    const { rejection, known } = reply;
    if (rejection !== undefined && rejection !== 'dedupe_mismatch') return;
    this.due = [];
    const first = new Map<string, string>();
    let hasMismatch = false;
    command.runs.forEach((_, place) => {
      const claim = claimOf(command, place);
      const text = claim?.text ?? '';
      const before = this.remembered(text, at);
      const isKnown = before !== undefined || first.has(text);
      if (!isKnown) this.due.push(place);
      if (claim === undefined) return;
      const input = before?.input ?? first.get(text) ?? claim.input;
      hasMismatch ||= input !== claim.input;
      first.set(text, input);
      if (rejection !== undefined) return;
      const run = known?.get(place)?.number;
      const isSame = isKnown ? run !== undefined : run === undefined;
      this.check(isSame && run === (before?.task ?? run), 'I7', () => {
        return `run ${place} of a start is ${run ?? 'new'}, and its key is of ${before?.task}`;
      });
    });
    this.check(hasMismatch === (rejection === 'dedupe_mismatch'), 'I7', () => {
      return `a start is ${rejection ?? 'accepted'}, and its keys have ${hasMismatch ? 'other' : 'the same'} inputs`;
    });
  }

  /** The run has the key that its start gave it. */
  private runStarted(event: Started, command: Command, at: number): void {
    const place = this.due.shift();
    if (command.type !== 'start_runs' || place === undefined) return;
    const { words, start, windowMs } = event.dedupe;
    const key = windowMs === 0 ? undefined : words.subarray(start, start + HALF).join();
    this.check(key === claimOf(command, place)?.text, 'I7', () => {
      return `run ${event.task} has not the key that its start gave it`;
    });
    this.claim(event, at);
  }

  /** The key of a task that is retried with another input must stand for that input. */
  private retried({ ids, input }: RetryTasks, { outcomes }: RetryTasksReply): void {
    if (input === undefined) return;
    outcomes.forEach(({ rejection }, place) => {
      const key = this.byTask.get(this.story.get(ids[place])?.number ?? 0);
      if (rejection === undefined && key !== undefined) this.replaced.set(key, input.words.join());
    });
  }

  ends({ command }: ToldCommand): void {
    if (command.type === 'submit_tasks') {
      this.check(this.due.length === 0, 'I1', () => `${this.due.length} tasks are not stored`);
      this.requests.ends();
    }
    for (const [key, input] of this.replaced) {
      this.check(key.input === input, 'I7', () => {
        return `the key of task ${key.task} stands for the input before its replacement`;
      });
    }
  }

  private asSent(event: Submitted, command: SubmitTasks, place: number): void {
    const { tasks, inputs, inputEnds, namespace } = command;
    const { type, priority = 4 } = tasks[place];
    const start = place === 0 ? 0 : inputEnds[place - 1];
    const input = textOf({ bytes: inputs, start, end: inputEnds[place] });
    const queue = event.taskType;
    const isType = queue.endsWith(type) && namespaceOf({ queue }) === namespace;
    this.check(isType, 'I2', () => `task ${event.task} is in queue ${queue}, not of ${type}`);
    this.check(textOf(event.input) === input, 'I2', () => {
      return `task ${event.task} has input ${textOf(event.input).slice(0, 99)}, not ${input}`;
    });
    this.check(this.hasDefinitions || event.priority === priority, 'I2', () => {
      return `task ${event.task} has priority ${event.priority}, not ${priority}`;
    });
  }

  private claim({ dedupe, task }: Submitted | Started, at: number): void {
    const { words, start, windowMs } = dedupe;
    if (windowMs === 0) return;
    const text = words.subarray(start, start + HALF).join();
    const input = words.subarray(start + HALF, start + 2 * HALF).join();
    const before = this.remembered(text, at);
    this.check(before === undefined, 'I7', () => {
      return `tasks ${before?.task} and ${task} have the same key at the same time`;
    });
    const key = { text, input, task, expiresAt: at + windowMs };
    this.byText.set(text, key);
    this.byTask.set(task, key);
  }

  private forgotten(task: number, at: number): void {
    if (this.requests.forgotten(task, at)) return;
    const key = this.byTask.get(task);
    this.check(key !== undefined && at >= key.expiresAt, 'I7', () => {
      return `the key of task ${task} is forgotten at ${at}, and not at ${key?.expiresAt}`;
    });
    if (key === undefined) return;
    this.byTask.delete(task);
    if (this.byText.get(key.text) === key) this.byText.delete(key.text);
  }

  private remembered(text: string, at: number): Key | undefined {
    const key = this.byText.get(text);
    return key === undefined || at >= key.expiresAt ? undefined : key;
  }

  private sameTask(before: Key, known: number | undefined, { input, policy }: Claim): void {
    const mayDiffer = policy !== REFUSE_DUPLICATE;
    this.check(known === before.task && (mayDiffer || input === before.input), 'I7', () => {
      return `the key of task ${before.task} gives ${known ?? 'a new one'}`;
    });
  }

  private inputChanged({ task, dedupe }: InputChanged, command: Command): void {
    const key = this.byTask.get(task);
    const { words, start } = dedupe;
    const input = words.subarray(start + HALF, start + 2 * HALF).join();
    const isAsked =
      command.type === 'submit_tasks'
        ? isReplaced(command, key?.text, input)
        : key !== undefined && this.replaced.get(key) === input;
    this.check(isAsked, 'I7', () => `the key of task ${task} got an input that nobody sent`);
    if (key !== undefined) key.input = input;
  }

  private mismatch(command: SubmitTasks, { mismatchAt = 0 }: SubmitTasksReply, at: number): void {
    const claim = claimOf(command, mismatchAt);
    const earlier = command.tasks
      .slice(0, mismatchAt)
      .map((_, place) => claimOf(command, place))
      .find((each) => each?.text === claim?.text);
    const before = claim === undefined ? undefined : (this.remembered(claim.text, at) ?? earlier);
    const isExisting = claim?.policy === EXISTING_DUPLICATE;
    const differs = before !== undefined && before.input !== claim?.input;
    this.check(differs && !isExisting, 'I7', () => {
      return `task ${mismatchAt} of a submit is refused, and its key is free or of the same input`;
    });
  }

  private check(holds: boolean, rule: string, what: () => string): void {
    this.story.simulation.check(holds, rule, what);
  }
}

/** Whether a task of the submit gives the key this input. */
function isReplaced(command: SubmitTasks, text: string | undefined, input: string): boolean {
  return command.tasks.some((_, place) => {
    const claim = claimOf(command, place);
    const isReplacing = claim?.policy === REPLACE_DUPLICATE;
    return isReplacing && claim?.text === text && claim?.input === input;
  });
}

function claimOf({ dedupe }: SubmitTasks | StartRuns, place: number) {
  if (dedupe === undefined || dedupe.windowsMs[place] === 0) return undefined;
  const start = place * 2 * HALF;
  const text = dedupe.words.subarray(start, start + HALF).join();
  const input = dedupe.words.subarray(start + HALF, start + 2 * HALF).join();
  return { text, input, policy: dedupe.onDuplicate?.[place] ?? REFUSE_DUPLICATE };
}
