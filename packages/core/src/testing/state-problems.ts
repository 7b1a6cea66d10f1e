import type { SessionId, Slot, TaskNumber } from '../ids.ts';
import type { ReadonlyState } from '../state.ts';
import { describeState, type StateDescription } from './describe-state.ts';

/** A session as its worker knows it. */
export interface KnownSession {
  readonly id: SessionId;
  types: readonly string[];
  slots: number;
  connected: boolean;
  /** Pushed to it and not read yet. */
  unsentBytes: number;
}

/** What is wrong with a durable state by itself; nothing, if the core keeps its invariants. */
export function stateProblems(state: ReadonlyState): string[] {
  const description = describeState(state);
  return [
    ...listProblems(description),
    ...queueProblems(state, description),
    ...countProblems(state, description),
    ...holderProblems(description),
    ...timerProblems(description),
  ];
}

/** S1: each task is in the list of its state, once, and in no other. */
function listProblems({ tasks, queues, holders, finished }: StateDescription): string[] {
  const placesOf = (number: number): string[] => [
    ...queues.flatMap(({ type, waiting }) =>
      waiting.flatMap((numbers, level) =>
        numbers.filter((n) => n === number).map(() => `queue ${type}/${level}`),
      ),
    ),
    ...holders.flatMap(({ session, held }) =>
      held.filter((n) => n === number).map(() => `holder ${session}`),
    ),
    ...finished.filter((n) => n === number).map(() => 'finished'),
    ...queues.flatMap(({ type, dead }) =>
      dead.filter((n) => n === number).map(() => `dead letters of ${type}`),
    ),
  ];
  return tasks.flatMap((task) => {
    const places = placesOf(task.number).join(' and ');
    const expected = expectedPlace(task);
    if (places === expected) return [];
    return [`S1: task ${task.number} is ${task.state} and in '${places}', not '${expected}'`];
  });
}

function expectedPlace(task: StateDescription['tasks'][number]): string {
  if (task.state === 'queued') return `queue ${task.type}/${task.priority}`;
  if (isDeferred(task)) return '';
  if (task.state === 'leased' || task.state === 'running') return `holder ${task.session}`;
  if (['waiting', 'paused'].includes(task.state)) return '';
  const isDead = ['failed', 'timed_out'].includes(task.state) && task.isDiscarded === 0;
  return isDead ? `dead letters of ${task.type}` : 'finished';
}

/** S2: a timer at the earliest deadline, or none; worked out from the words of the contract. */
function timerProblems({ tasks }: StateDescription): string[] {
  return tasks.flatMap((task) => {
    const expected = expectedTimer(task);
    const at = expected === Number.POSITIVE_INFINITY ? null : expected;
    if (task.timerAt === at) return [];
    return [`S2: task ${task.number} is ${task.state} with timer ${task.timerAt}, not ${at}`];
  });
}

function expectedTimer(task: StateDescription['tasks'][number]): number {
  const never = Number.POSITIVE_INFINITY;
  const limits = { queueMs: never, runMs: never, totalMs: never, ...textOf(task.timeouts) };
  const totalAt = (task.retriedAt || task.submittedAt) + limits.totalMs;
  switch (task.state) {
    case 'waiting':
      return Math.min(task.dueAt, totalAt);
    case 'queued':
      return Math.min(task.dueAt + limits.queueMs, totalAt);
    case 'paused':
      return totalAt;
    case 'leased':
    case 'running':
      if (task.stop === 'cancelled') return task.stopAt ?? never;
      if (task.stop !== '') return Math.min(task.stopAt ?? never, totalAt);
      return Math.min(task.leasedAt + limits.runMs, totalAt);
    default:
      return never;
  }
}

/** Its worker left the end to somebody outside. */
function isDeferred(task: StateDescription['tasks'][number]): boolean {
  return task.state === 'running' && task.reason === 'later';
}

function textOf(json: string): object {
  return json === '' ? {} : (JSON.parse(json) as object);
}

/** Q1: the bitmap, the depths and the first task say the same as the lists. */
function queueProblems(state: ReadonlyState, { queues }: StateDescription): string[] {
  return queues.flatMap(({ index, type, levels, depth, waiting }) => {
    const queue = state.queues[index];
    const bits = waiting.reduce((sum, list, level) => sum + (list.length > 0 ? 2 ** level : 0), 0);
    const top = waiting.findLast((list) => list.length > 0)?.[0];
    const first = queue.topLevel() < 0 ? undefined : state.tasks.number[queue.first()];
    const problems: string[] = [];
    if (bits !== levels) problems.push(`Q1: queue ${type} has levels ${levels}, not ${bits}`);
    if (depth !== waiting.flat().length) problems.push(`Q1: queue ${type} has depth ${depth}`);
    if (top !== first) problems.push(`Q1: queue ${type} starts with ${first}, not ${top}`);
    waiting.forEach((list, level) => {
      if (queue.depthOf(level) !== list.length) problems.push(`Q1: depth of ${type}/${level}`);
    });
    return problems;
  });
}

function countProblems(state: ReadonlyState, description: StateDescription): string[] {
  const { tasks, queues, holders, finished } = description;
  const queued = queues.reduce((sum, queue) => sum + queue.depth, 0);
  const held = holders.reduce((sum, holder) => sum + holder.held.length, 0);
  const bytes = tasks.reduce((sum, task) => sum + task.input.length + task.result.length, 0);
  const problems: string[] = [];
  const { timers, interned, keys } = description;
  if (keys.length !== state.dedupe.count) problems.push(`${state.dedupe.count} keys are counted`);
  const idle = tasks.filter((task) => expectedPlace(task) === '').length;
  const dead = queues.reduce((sum, queue) => sum + queue.dead.length, 0);
  if (idle + queued + held + dead + finished.length !== tasks.length) {
    const parts = `${idle} idle, ${queued} queued, ${held} held, ${dead} dead`;
    problems.push(`${parts}, ${finished.length} finished: ${tasks.length}`);
  }
  if (dead !== state.deadLetters.count) problems.push(`${state.deadLetters.count} are dead`);
  const withTimer = tasks.filter((task) => task.timerAt !== null).length;
  if (timers !== withTimer) problems.push(`${timers} timers are counted, not ${withTimer}`);
  for (const label of ['retry', 'timeouts', 'tags', 'callback', 'parent'] as const) {
    const used = new Set(['', ...tasks.map((task) => task[label])]).size;
    if (interned[label] !== used) problems.push(`${interned[label]} of ${label}, ${used} used`);
  }
  if (description.count !== tasks.length) problems.push(`count is ${description.count}`);
  if (state.finished.length !== finished.length) problems.push('length of the finished tasks');
  if (bytes !== description.liveBytes) problems.push(`A1: ${bytes} live bytes are not counted`);
  for (const { slot, number } of tasks) {
    const found = state.tasks.find(number as TaskNumber);
    if (found !== slot) problems.push(`I1: task ${number} is found in slot ${found}`);
  }
  return problems;
}

function holderProblems({ tasks, holders }: StateDescription): string[] {
  const problems: string[] = [];
  for (const { session, held } of holders) {
    const columns = tasks.filter(
      (task) =>
        ['leased', 'running'].includes(task.state) && !isDeferred(task) && task.session === session,
    );
    const byLease = columns.toSorted((a, b) => a.lease - b.lease).map((task) => task.number);
    if (byLease.join() !== held.join()) {
      problems.push(`session ${session} holds ${held}, by the columns ${byLease}`);
    }
  }
  for (const task of tasks) {
    if (task.session === '') problems.push(`task ${task.number} names a holder that was given up`);
  }
  return problems;
}

/** M1 and M2, as far as sessions outside know. `pushed` got a task in the last command. */
export function matchingProblems(
  state: ReadonlyState,
  sessions: Iterable<KnownSession>,
  pushed: ReadonlySet<SessionId>,
): string[] {
  const problems: string[] = [];
  for (const session of sessions) {
    const held = heldBy(state, session.id).length;
    // Only a lease that is granted must fit: a worker may come back with less room than it uses.
    if (pushed.has(session.id) && held > session.slots) {
      problems.push(`M2: session ${session.id} holds ${held} with ${session.slots} slots`);
    }
    if (!session.connected || held >= session.slots) continue;
    if (session.unsentBytes >= state.limits.unsentBytesMax) continue;
    for (const type of session.types) {
      const queue = state.queueOf(type);
      if (queue !== undefined && queue.depth > 0 && !queue.paused)
        problems.push(`M1: ${type} waits while session ${session.id} has room`);
    }
  }
  return problems;
}

export function heldBy(state: ReadonlyState, session: SessionId): Slot[] {
  const holder = state.holders.find(session);
  const slots: Slot[] = [];
  if (holder >= 0) state.holders.forEachHeld(holder, (slot) => slots.push(slot));
  return slots;
}
