import { CronCalendar } from '@sluice/calendar';
import { type PartitionOptions, TASK_STATES } from '@sluice/core';
import type { StartTimer } from '@sluice/engine';
import type { Situations } from '../base/situations.ts';
import { UTF8 } from '../base/utf8.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { ExchangeRequest } from '../network/exchange.ts';
import type { WorldPlan } from '../plan/world-plan.ts';

/** The dedupe window of a submit by the SDK; undefined for other requests. */
export function sdkWindowMs({ path, body, requestKey }: ExchangeRequest): number | undefined {
  if (path !== '/v1/tasks') return undefined;
  if (!body.includes('"dedupeKey":"sdk.')) return requestKey?.windowMs;
  return Number(/"dedupeWindowMs":(\d+)/.exec(body)?.[1]);
}

export function timersOf(process: SimProcess, before: () => void): StartTimer {
  return (delayMs, run) => {
    return process.after(delayMs, () => {
      before();
      run();
    });
  };
}

export function partitionOptionsOf({
  limits,
  matching,
  hashEvery,
  runs,
}: WorldPlan): PartitionOptions {
  const runUnits = runs === undefined ? {} : { runUnits: runs.unitsMax };
  const calendar = new CronCalendar();
  return { partition: 0, limits, utf8: UTF8, calendar, matching, hashEvery, ...runUnits };
}

/** Records of tasks that left memory. */
export interface SimRecords {
  /** The last state of a task. */
  readonly stateOf: (id: string) => string | undefined;
  readonly situations: Situations;
}

/** Reads the states of tasks that left memory, for repeated requests. */
export function endsOf({ stateOf, situations }: SimRecords) {
  const states: readonly string[] = TASK_STATES;
  return async (_namespace: string, ids: readonly string[]) => {
    situations.note('a request was known whose tasks had left memory');
    return new Map(ids.map((id) => [id, { state: states.indexOf(stateOf(id) ?? '') }]));
  };
}
