import type { TaskNumber } from '../../base/ids.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { isTerminal } from '../../task/task-state.ts';
import { isRunOver } from '../../workflow/run-state.ts';
import { testUtf8 } from '../test-utf8.ts';
import { describeSchedules, type ScheduleDescription } from './describe-schedules.ts';

/** What is wrong with the schedules of a state, by the names of the rules. */
export function scheduleProblems(state: ReadonlyState): string[] {
  const { schedules, namespaces } = state;
  const all = describeSchedules(state);
  const problems = all.flatMap((each) => problemsOf(state, each));
  if (schedules.table.count !== all.length) problems.push('number of schedules');
  const timers = all.filter(({ hasTimer }) => hasTimer).length;
  if (schedules.timers.count !== timers) problems.push('number of schedule timers');
  const counted = [...namespaces.inUse()].reduce((sum, use) => sum + use.schedules, 0);
  if (counted !== all.length) problems.push('schedules of namespaces');
  const watched = all.reduce((sum, each) => sum + watches(each), 0);
  if (schedules.watchedCount !== watched) {
    problems.push(`schedules.watched: ${schedules.watchedCount} instead of ${watched}`);
  }
  return problems;
}

type Replicas = readonly { readonly made: number; readonly isRun: boolean }[];

function watches({ columns, replicas, earlier }: ScheduleDescription): number {
  const live = (replicas as Replicas).filter(({ made }) => made !== 0).length;
  return live + columns.isBlocked + earlier.length;
}

function problemsOf(state: ReadonlyState, schedule: ScheduleDescription): string[] {
  const { slot, name, columns, hasTimer } = schedule;
  const { schedules } = state;
  const problems: string[] = [];
  if (schedules.find(columns.namespace, testUtf8.encode(name)) !== slot) {
    problems.push(`slot-index.own-bucket: schedule '${name}' is not found`);
  }
  const live = schedules.replicas.liveOf(slot);
  const hasPlace = live < columns.replicas && schedules.replicas.of(slot).length > live;
  const hasTime = columns.replicas > 0 ? hasPlace : columns.nextAt !== 0;
  const mayFire = columns.paused === 0 && columns.isBlocked === 0 && hasTime;
  if (mayFire !== hasTimer) problems.push(`schedules.one-timer: '${name}'`);
  const blocking =
    columns.isBlocked === 1 ? [{ made: columns.made, isRun: columns.madeRun === 1 }] : [];
  for (const { made, isRun } of [...(schedule.replicas as Replicas), ...blocking]) {
    if (made !== 0 && hasEnded(state, made, isRun)) {
      problems.push(`schedules.watched: '${name}' waits for ${made}, which has ended`);
    }
  }
  return problems;
}

function hasEnded({ tasks, runs }: ReadonlyState, made: number, isRun: boolean): boolean {
  const found = isRun ? runs.table.find(made as TaskNumber) : tasks.find(made as TaskNumber);
  if (found < 0) return true;
  return isRun ? isRunOver(runs.table.state[found]) : isTerminal(tasks.state[found]);
}
