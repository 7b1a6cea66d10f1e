import { CronCalendar } from '@sluice/calendar';
import type { PartitionOptions } from '@sluice/core';
import type { StartTimer } from '@sluice/engine';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { ExchangeRequest } from '../network/exchange.ts';
import type { WorldPlan } from '../plan/world-plan.ts';
import { UTF8 } from '../utf8.ts';

/** The dedupe window of a submit by the SDK; undefined for other requests. */
export function sdkWindowMs({ path, body }: ExchangeRequest): number | undefined {
  if (path !== '/v1/tasks' || !body.includes('"dedupeKey":"sdk.')) return undefined;
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
