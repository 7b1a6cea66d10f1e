import type { Item } from '../../base/api.ts';
import { duration } from '../../base/words.ts';
import { cronWords } from './cron-words.ts';

export type Schedule = Item<'GET /v1/schedules'>;

/** When a schedule fires, in words. */
export function specWords(spec: Schedule['spec']): string {
  if ('cron' in spec) {
    const zone = spec.timeZone === undefined || spec.timeZone === 'UTC' ? 'UTC' : spec.timeZone;
    return `${cronWords(spec.cron) ?? spec.cron}, ${zone}`;
  }
  if ('everyMs' in spec) {
    return `every ${duration(spec.everyMs)}${spec.mode === 'fixedDelay' ? ' after the end of the last' : ''}`;
  }
  if ('at' in spec) return `once, at ${new Date(spec.at).toLocaleString()}`;
  return `always ${spec.replicas ?? 1} running`;
}

/** What a schedule makes. */
export function madeOf({ task, run }: Pick<Schedule, 'task' | 'run'>): string {
  if (task !== undefined) return `task ${task.type}`;
  return run === undefined ? '' : `run of ${run.workflow}`;
}
