import {
  type Command,
  NO_SLOT,
  type ReadonlyState,
  type Slot,
  TASK_STATES,
  type TaskNumber,
} from '@sluice/core';
import type { HistoryEntry } from '../clients/history.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';
import type { LogStory } from './story/log-story.ts';
import type { TaskStory } from './story/task-story.ts';

/** Memory is compared with the log once per this many commands, and after each restart. */
const COMMANDS_PER_LOOK = 500;

/**
 * I1: a task that a client was told of is in the log, and in memory until it was forgotten by an
 * event after its end. I2: nothing else is in memory. I3: input, state and result are those that
 * the log tells.
 */
export class MemoryOfLog implements Checker {
  readonly name = 'memory of log';
  private readonly story: LogStory;
  private readonly entries: readonly HistoryEntry[];
  private partition: WatchedPartition | undefined;
  private commands = 0;

  constructor(story: LogStory, entries: readonly HistoryEntry[]) {
    this.story = story;
    this.entries = entries;
  }

  booted(partition: WatchedPartition): void {
    this.partition = partition;
    this.lookAtAnswers();
    this.compare(partition);
  }

  executed(_command: Command, _reply: unknown, partition: WatchedPartition): void {
    this.commands += 1;
    if (this.commands >= COMMANDS_PER_LOOK) this.compare(partition);
  }

  stopped(): void {
    this.partition = undefined;
  }

  ended(): void {
    this.lookAtAnswers();
    if (this.partition !== undefined) this.compare(this.partition);
  }

  /** Checks every task that a client was told about. */
  private lookAtAnswers(): void {
    for (const { client, asked, status, answer } of this.entries) {
      if (asked.kind !== 'submit' || status < 200 || status >= 300) continue;
      const { items } = answer as { readonly items: readonly { readonly id: string }[] };
      for (const { id } of items) {
        this.story.simulation.check(this.story.get(id) !== undefined, 'I1', () => {
          return `${client} was told of ${id}, and the log knows nothing of it`;
        });
      }
    }
  }

  /** Compares only when everything in memory is durable. */
  private compare({ state, records }: WatchedPartition): void {
    const { story } = this;
    if (records !== story.tail) return;
    this.commands = 0;
    let remembered = 0;
    for (const task of story.tasks.values()) {
      if (task.isForgotten) continue;
      remembered += 1;
      const problem = differenceOf(state, task);
      story.simulation.check(problem === undefined, problem?.rule ?? '', () => {
        return `task ${task.number} ${problem?.what}`;
      });
    }
    story.simulation.check(state.tasks.count === remembered, 'I2', () => {
      return `${state.tasks.count} tasks are in memory, and ${remembered} in the log`;
    });
  }
}

interface Difference {
  readonly rule: string;
  readonly what: string;
}

function differenceOf(state: ReadonlyState, task: TaskStory): Difference | undefined {
  const slot = state.tasks.find(task.number as TaskNumber);
  if (slot === NO_SLOT) return { rule: 'I1', what: `is ${task.phase}, and not in memory` };
  for (const [name, memory, log] of comparisons(state, slot, task)) {
    if (memory === log) continue;
    return { rule: 'I3', what: `has ${name} '${memory}' in memory and '${log}' in the log` };
  }
  return undefined;
}

type Comparison = readonly [name: string, memory: string | number, log: string | number];

function comparisons(state: ReadonlyState, slot: Slot, task: TaskStory): Comparison[] {
  const { tasks } = state;
  const { phase } = task;
  return [
    ['slot', slot, task.slot],
    ['state', TASK_STATES[tasks.state[slot]], phase === 'deferred' ? 'running' : phase],
    ['attempt', tasks.attempt[slot], task.attempt],
    ['lease', tasks.lease[slot], task.lease],
    ['priority', tasks.priority[slot], task.priority],
    ['submit', tasks.submittedAt[slot], task.submittedAt],
    ['queue', state.queues[tasks.queue[slot]].key, task.queue],
    ['shape', state.texts.shape.textAt(tasks.shape[slot]), task.shape],
    ['retry', state.texts.retry.textAt(tasks.retry[slot]), task.retry],
    ['timeouts', state.texts.timeouts.textAt(tasks.timeouts[slot]), task.timeouts],
    ['tags', state.texts.tags.textAt(tasks.tags[slot]), task.tags],
    ['input', payload(state, tasks.input[slot], tasks.inputLength[slot]), task.input],
    ['result', payload(state, tasks.result[slot], tasks.resultLength[slot]), task.result],
  ];
}

function payload({ payloads }: ReadonlyState, reference: number, length: number): string {
  if (length === 0) return '';
  const start = payloads.startOf(reference);
  return Buffer.from(payloads.bytesOf(reference).subarray(start, start + length)).toString();
}
