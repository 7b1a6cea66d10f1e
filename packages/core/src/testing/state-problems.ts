import type { SessionId, Slot, TaskNumber } from '../base/ids.ts';
import type { ReadonlyState } from '../state/state.ts';
import { LEFT_RUN } from '../state/task-table.ts';
import { type ColumnTable, columnsOf } from '../structures/columns.ts';
import { PRIORITY_LEVELS, QUEUED } from '../task/task-state.ts';
import { describeState, type StateDescription } from './describe-state.ts';
import { type ModelNeed, ModelRoom, type ModelWorker } from './model/model-room.ts';
import { runPayloadBytes, runProblems } from './runs/run-problems.ts';
import { scheduleBytes } from './schedules/describe-schedules.ts';
import { scheduleProblems } from './schedules/schedule-problems.ts';

/** Broken invariants of a durable state. */
export function stateProblems(state: ReadonlyState): string[] {
  const description = describeState(state);
  return [
    ...listProblems(description),
    ...queueProblems(state, description),
    ...countProblems(state, description),
    ...holderProblems(description),
    ...timerProblems(description),
    ...fractionProblems(state),
    ...runProblems(state),
    ...scheduleProblems(state),
  ];
}

/** The log holds whole numbers. A column with a fraction would differ after a replay (L3). */
function fractionProblems({ tasks, dedupe, runs, schedules }: ReadonlyState): string[] {
  return [tasks, dedupe, runs.table, runs.steps, schedules.table].flatMap((table) =>
    [...columnsOf(table as unknown as ColumnTable)].flatMap(([name, column]) => {
      // The others cannot hold one.
      if (!(column instanceof Float64Array)) return [];
      const slot = column.findIndex((value) => !Number.isInteger(value));
      return slot < 0 ? [] : [`L3: column '${name}' holds ${column[slot]} in slot ${slot}`];
    }),
  );
}

/** Each task is in the list of its state, once, and in no other (state.one-list). */
function listProblems({ tasks, queues, holders, finished }: StateDescription): string[] {
  const found = new Map<number, string[]>();
  const note = (numbers: readonly number[], place: string): void => {
    for (const number of numbers) found.set(number, [...(found.get(number) ?? []), place]);
  };
  for (const { type, lanes, dead } of queues) {
    for (const { waiting, level, shape } of lanes) note(waiting, `lane ${type}/${level}/${shape}`);
    note(dead, `dead letters of ${type}`);
  }
  for (const { session, held } of holders) note(held, `holder ${session}`);
  note(finished, 'finished');
  return tasks.flatMap((task) => {
    const places = (found.get(task.number) ?? []).join(' and ');
    const expected = expectedPlace(task);
    if (places === expected) return [];
    return [
      `state.one-list: task ${task.number} is ${task.state} and in '${places}', not '${expected}'`,
    ];
  });
}

function expectedPlace(task: StateDescription['tasks'][number]): string {
  if (task.state === 'queued') return `lane ${task.type}/${task.priority}/${task.shape}`;
  if (isDeferred(task)) return '';
  if (task.state === 'leased' || task.state === 'running') return `holder ${task.session}`;
  if (['waiting', 'paused'].includes(task.state)) return '';
  if (task.step !== 0 && task.step !== LEFT_RUN) return '';
  const isDead = ['failed', 'timed_out'].includes(task.state) && task.isDiscarded === 0;
  return isDead ? `dead letters of ${task.type}` : 'finished';
}

/**
 * A timer at the earliest deadline, or none (state.one-timer); computed independently from the
 * contract.
 */
function timerProblems({ tasks }: StateDescription): string[] {
  return tasks.flatMap((task) => {
    const expected = expectedTimer(task);
    const at = expected === Number.POSITIVE_INFINITY ? null : expected;
    if (task.timerAt === at) return [];
    return [
      `state.one-timer: task ${task.number} is ${task.state} with timer ${task.timerAt}, not ${at}`,
    ];
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

/** Its handler left the end to the outside. */
function isDeferred(task: StateDescription['tasks'][number]): boolean {
  return task.state === 'running' && task.reason === 'later';
}

function textOf(json: string): object {
  return json === '' ? {} : (JSON.parse(json) as object);
}

/**
 * Lanes, bitmap and depths agree, and each lane is in order (queue.open-lanes,
 * queue.no-empty-lane).
 */
function queueProblems(state: ReadonlyState, { queues, tasks }: StateDescription): string[] {
  const orders = new Map(tasks.map(({ number, order }) => [number, order ?? Number.NaN]));
  return queues.flatMap(({ index, type, levels, depth, lanes }) => {
    const problems: string[] = [];
    const bits = new Set(lanes.map(({ level }) => 2 ** level));
    const sum = [...bits].reduce((total, bit) => total + bit, 0);
    if (sum !== levels)
      problems.push(`queue.open-lanes: queue ${type} has levels ${levels}, not ${sum}`);
    if (depth !== lanes.flatMap(({ waiting }) => waiting).length)
      problems.push(`queue.open-lanes: ${type} depth`);
    if (new Set(lanes.map(({ shape, level }) => `${shape}/${level}`)).size < lanes.length) {
      problems.push(`queue.open-lanes: queue ${type} has two lanes of one kind`);
    }
    for (const { shape, level, length, waiting } of lanes) {
      const inOrder = waiting.map((number) => orders.get(number) ?? Number.NaN);
      const isSorted = inOrder.every((order, n) => n === 0 || inOrder[n - 1] < order);
      if (!isSorted)
        problems.push(`queue.open-lanes: lane ${type}/${level}/${shape} is out of order`);
      if (length !== waiting.length || length === 0)
        problems.push(`queue.no-empty-lane: ${type}/${level}/${shape}`);
    }
    for (let level = 0; level < PRIORITY_LEVELS; level++) {
      const ofLevel = lanes.filter((lane) => lane.level === level);
      const expected = ofLevel.reduce((total, { length }) => total + length, 0);
      if (state.queues[index].depthOf(level) !== expected)
        problems.push(`queue.open-lanes: ${type}/${level}`);
    }
    return problems;
  });
}

/**
 * Counts agree with what is there (arena.live-bytes), and each task is found by its number
 * (slot-index.own-bucket).
 */
function countProblems(state: ReadonlyState, description: StateDescription): string[] {
  const { tasks, queues, holders, finished } = description;
  const queued = queues.reduce((sum, queue) => sum + queue.depth, 0);
  const held = holders.reduce((sum, holder) => sum + holder.held.length, 0);
  const ofTasks = tasks.reduce((sum, task) => sum + task.input.length + task.result.length, 0);
  const bytes = ofTasks + runPayloadBytes(description.runs) + scheduleBytes(state);
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
  const owed = [...state.outbox.pending(), ...state.outbox.givenUp()];
  const owedTexts = owed.map(({ callback }) => state.texts.callback.textAt(callback));
  for (const label of ['shape', 'retry', 'timeouts', 'tags', 'callback', 'parent'] as const) {
    const ofRuns = label === 'tags' ? description.runs.map(({ tags }) => tags) : [];
    const others = label === 'callback' ? owedTexts : ofRuns;
    const used = new Set(['', ...tasks.map((task) => task[label]), ...others]).size;
    if (interned[label] !== used) problems.push(`${interned[label]} of ${label}, ${used} used`);
  }
  if (description.count !== tasks.length) problems.push(`count is ${description.count}`);
  if (state.finished.length !== finished.length) problems.push('length of the finished tasks');
  if (bytes !== description.liveBytes)
    problems.push(`arena.live-bytes: ${bytes} live bytes are not counted`);
  for (const { slot, number } of tasks) {
    const found = state.tasks.find(number as TaskNumber);
    if (found !== slot)
      problems.push(`slot-index.own-bucket: task ${number} is found in slot ${found}`);
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

/**
 * The matching as far as workers know it (matching.no-idle-fit, matching.within-offer). `pushed`
 * are sessions that got a task in the last command; `kept` is the task that each session reserves
 * room for.
 */
export function matchingProblems(
  state: ReadonlyState,
  sessions: Iterable<ModelWorker>,
  { pushed, kept, now }: MatchingMoment,
): string[] {
  const problems: string[] = [];
  const ready = readySlots(state).map((slot) => [slot, needOf(state, slot)] as const);
  for (const session of sessions) {
    const held = heldBy(state, session.id).map((slot) => needOf(state, slot));
    const room = new ModelRoom(session, held, state.limits.unsentBytesMax);
    // Only a granted lease must fit: a worker may come back with less room than it uses.
    if (pushed.has(session.id) && !room.isWithinOffer) {
      problems.push(`matching.within-offer: session ${session.id} holds more than it offers`);
    }
    for (const [slot, task] of ready) {
      if (!room.takes(task, now)) continue;
      const keptFor = kept.get(session.id);
      if (keptFor !== undefined && !goesBefore(state, slot, keptFor)) continue;
      problems.push(
        `matching.no-idle-fit: task ${task.number} waits while session ${session.id} may take it`,
      );
    }
  }
  return problems;
}

interface MatchingMoment {
  readonly pushed: ReadonlySet<SessionId>;
  readonly kept: ReadonlyMap<SessionId, number>;
  readonly now: number;
}

function readySlots({ tasks, queues }: ReadonlyState): Slot[] {
  const slots: Slot[] = [];
  for (let slot = 0; slot < tasks.capacity; slot++) {
    const isReady = tasks.number[slot] !== 0 && tasks.state[slot] === QUEUED;
    if (isReady && !queues[tasks.queue[slot]].paused) slots.push(slot as Slot);
  }
  return slots;
}

function needOf(state: ReadonlyState, slot: Slot): ModelNeed {
  const { resources, constraintTexts: constraints } = state.texts.shape.at(state.tasks.shape[slot]);
  const number = state.tasks.number[slot];
  return { number, type: state.queues[state.tasks.queue[slot]].key, resources, constraints };
}

/** Whether a session with a reservation may get the task in `slot`. */
function goesBefore({ tasks }: ReadonlyState, slot: Slot, keptFor: number): boolean {
  if (tasks.number[slot] === keptFor) return true;
  const other = tasks.find(keptFor as TaskNumber);
  const lead = tasks.priority[slot] - tasks.priority[other];
  return lead > 0 || (lead === 0 && tasks.order[slot] < tasks.order[other]);
}

export function heldBy(state: ReadonlyState, session: SessionId): Slot[] {
  const holder = state.holders.find(session);
  const slots: Slot[] = [];
  if (holder >= 0) state.holders.forEachHeld(holder, (slot) => slots.push(slot));
  return slots;
}
