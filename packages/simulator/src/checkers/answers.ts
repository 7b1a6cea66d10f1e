import { type Event, parseRunId } from '@sluice/core';
import type { HistoryEntry } from '../clients/history.ts';
import type { Checker } from './story/checker.ts';
import type { LogStory } from './story/log-story.ts';
import type { StoryRule, ToldCommand } from './story/story-rule.ts';
import { isFirst, type TaskStory } from './story/task-story.ts';

type Asking = Pick<HistoryEntry, 'invokedAt' | 'answeredAt'>;

/** What a task looked like during one period of time. */
interface Version {
  /** The start of the period, by the world's time. */
  readonly from: number;
  readonly state: string;
  readonly isGone: boolean;
  readonly attempt: number;
  readonly priority: number;
  readonly input: string;
  readonly result: string;
}

/** What an answer says about a task. A field is undefined when the answer does not mention it. */
interface Said {
  readonly state?: string;
  readonly reason?: string;
  readonly attempt?: number;
  readonly priority?: number;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  /** The answer may describe a task that has left memory, because its key outlives it. */
  readonly isByKey?: boolean;
}

/**
 * I3: what a client is told of a task is what it was, by the log, at some time between question and
 * answer: state, attempt, input and result. I1: it is not told that a task does not exist which
 * does. I29: the log says so already when the answer gets out of the server.
 */
export class Answers implements Checker, StoryRule {
  readonly name = 'answers';
  private readonly story: LogStory;
  private readonly entries: readonly HistoryEntry[];
  private readonly versions = new Map<string, Version[]>();
  private readonly touched = new Set<TaskStory>();
  private readonly submitted = new Set<number>();
  /** Entries that have an answer and were not checked yet. */
  private readonly open = new Set<HistoryEntry>();
  private taken = 0;

  constructor(story: LogStory, entries: readonly HistoryEntry[]) {
    this.story = story;
    this.entries = entries;
  }

  event(event: Event, task: TaskStory | undefined): void {
    if (task !== undefined) this.touched.add(task);
    else if (isFirst(event)) this.submitted.add(event.task);
  }

  /** Notes one version per command: clients never see states in the middle of a command. */
  ends({ executedAt }: ToldCommand): void {
    for (const number of this.submitted) {
      const task = this.story.tasks.get(number);
      if (task !== undefined) this.touched.add(task);
    }
    for (const task of this.touched) this.note(task, executedAt);
    this.touched.clear();
    this.submitted.clear();
  }

  booted(): void {
    this.look();
  }

  shown(id: string, json: string, invokedAt: number): void {
    if (parseRunId(id) !== undefined) return;
    const { simulation } = this.story;
    const said = JSON.parse(json) as Said;
    const versions = this.versionsDuring({ invokedAt, answeredAt: simulation.now }, id);
    const isDurable = versions.some((version) => agrees(version, said));
    simulation.check(isDurable, 'I29', () => {
      const durable = versions.map(({ state, attempt }) => `${state} ${attempt}`).join(', ');
      return `${id} is shown as ${said.state} ${said.attempt}, and is ${durable} by the log`;
    });
  }

  ended(): void {
    this.look();
  }

  /** The last state of a task, as records keep it; undefined when there was none. */
  stateOf(id: string): string | undefined {
    return this.versions.get(id)?.at(-1)?.state;
  }

  private note(task: TaskStory, from: number): void {
    const { phase, attempt, priority, input, result, isForgotten: isGone } = task;
    const state = phase === 'deferred' ? 'running' : phase;
    const versions = this.versions.get(task.id) ?? [];
    versions.push({ from, state, isGone, attempt, priority, input, result });
    this.versions.set(task.id, versions);
  }

  private look(): void {
    while (this.taken < this.entries.length) this.open.add(this.entries[this.taken++]);
    for (const entry of this.open) {
      if (entry.status === 0) continue;
      this.open.delete(entry);
      this.judge(entry);
    }
  }

  private judge(entry: HistoryEntry): void {
    const { asked, status, answer } = entry;
    if (asked.kind === 'get') {
      if (status === 200) this.expect(entry, asked.id, answer as Said);
      if (status === 404) this.expectNone(entry, asked.id);
    } else if (asked.kind === 'submit' && status < 300) {
      const { items } = answer as { items: readonly (Said & { id: string })[] };
      for (const { id, state = '' } of items) this.expect(entry, id, { state, isByKey: true });
    }
  }

  private expect(entry: HistoryEntry, id: string, said: Said): void {
    const versions = this.versionsDuring(entry, id);
    this.story.simulation.check(
      versions.some((version) => agrees(version, said)),
      'I3',
      () => {
        const { state, attempt, output, error } = said;
        const heard = JSON.stringify({ state, attempt, output, error });
        const shown = versions.map(({ from, state: was, attempt: at, isGone, result }) => {
          return `${from.toFixed(3)} ${was} ${at} ${isGone ? 'gone' : ''} ${result.slice(0, 99)}`;
        });
        const when = `${entry.invokedAt.toFixed(3)} to ${entry.answeredAt.toFixed(3)}`;
        return `${id} is ${heard} to ${entry.client}, ${when}, and was:\n${shown.join('\n')}`;
      },
    );
  }

  private expectNone(entry: HistoryEntry, id: string): void {
    const versions = this.versionsDuring(entry, id);
    const isPossible = versions.length === 0 || versions.some(({ isGone }) => isGone);
    this.story.simulation.check(isPossible, 'I1', () => {
      return `${entry.client} is told that there is no ${id}, and it is ${versions[0].state}`;
    });
  }

  private versionsDuring({ invokedAt, answeredAt }: Asking, id: string): Version[] {
    const versions = this.versions.get(id) ?? [];
    return versions.filter(({ from }, place) => {
      const until = versions.at(place + 1)?.from ?? Number.POSITIVE_INFINITY;
      return from <= answeredAt && until >= invokedAt;
    });
  }
}

function agrees(version: Version, said: Said): boolean {
  if (version.isGone && said.isByKey !== true) return false;
  if (said.state !== version.state) return false;
  if (said.attempt !== undefined && said.attempt !== version.attempt) return false;
  if (said.priority !== undefined && said.priority !== version.priority) return false;
  if (said.input !== undefined && text(said.input) !== version.input) return false;
  if (said.output !== undefined && version.state === 'succeeded') {
    return text(said.output) === version.result;
  }
  // A task that lost its worker shows no error, whatever an earlier attempt left.
  if (said.reason === 'worker_lost') return said.error === null;
  // The output of an attempt that came too late is shown as output, not as an error.
  const isLate = version.state === 'cancelled' && said.error === null;
  return said.error === undefined || isLate || text(said.error) === version.result;
}

function text(value: unknown): string {
  return value === null ? '' : JSON.stringify(value);
}
