import {
  type Author,
  type ChangeSchedules,
  type EndBackfill,
  madeId,
  NO_SLOT,
  nextTimes,
  type PauseSchedules,
  plannedTimes,
  type ReadonlyState,
  type ScheduleChange,
  type ScheduleOutcome,
  type StartBackfill,
  settingsOf,
  type TriggerSchedule,
  timesOf,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type BackfillAnswer,
  type BackfillRequest,
  type ErrorDetail,
  type FireView,
  mergePatch,
  type ScheduleView,
  SluiceError,
  scheduleTime,
  timeProblems,
} from '@sluice/protocol';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { timeText } from '../base/time-text.ts';
import { UTF8 } from '../base/utf8.ts';
import { invalid } from '../base/validation.ts';
import type { Admission } from '../limits/admission.ts';
import { findSchedule, foundSchedule, scheduleNotFound } from './find-schedule.ts';
import { scheduleView, writtenSchedule } from './schedule-exec.ts';
import { changeRefusal, fireRefusal } from './schedule-refusals.ts';
import { type ParsedSchedule, parseSchedule } from './schedule-request.ts';
import { TIME_PORTS } from './time-ports.ts';

const NOT_VALID = 'the schedule is not valid';

/** A patch that meets other changes of the same schedule is tried this often. */
const PATCH_TRIES = 10;

const SHOWN_TIMES = 5;

/** Times that a dry run of a backfill counts at most. */
const COUNTED_MAX = 10_000;

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly clock: () => number;
}

export interface PutResult {
  readonly id: string;
  readonly change: 'created' | 'replaced' | 'unchanged';
  readonly dryRun: boolean;
  readonly nextFires: readonly string[];
}

/** Changes and fires schedules. Each call returns once it is durable. */
export class ScheduleOperations {
  private readonly parts: Parts;
  private readonly scratch = new PayloadScratch();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  async put(namespace: string, id: string, body: unknown, by: Author): Promise<PutResult> {
    const schedule = parsedOrRefused(body);
    const change = { name: id, settings: schedule.settings, paused: schedule.paused };
    return this.change(
      namespace,
      { changes: [change], inputs: [schedule.input], by },
      (all, state) => {
        const [outcome] = all;
        if (outcome.rejection !== undefined) throw changeRefusal(outcome.rejection, id, state);
        const nextFires = nextTimes(state, outcome.slot, { ...TIME_PORTS, count: SHOWN_TIMES }).map(
          timeText,
        );
        return { id, change: outcome.change as PutResult['change'], dryRun: false, nextFires };
      },
    );
  }

  /** What `put` would do. */
  async plan(namespace: string, id: string, body: unknown): Promise<PutResult> {
    const { settings, input, paused } = parsedOrRefused(body);
    const { engine, admission, clock } = this.parts;
    admission.read();
    const times = plannedTimes(settings, TIME_PORTS.calendar, {
      now: clock(),
      count: SHOWN_TIMES,
    });
    const isPermanent = 'permanent' in settings.spec;
    return engine.read((state) => {
      const slot = findSchedule(state, namespace, id);
      if (times.length === 0 && !isPermanent) throw changeRefusal('never_fires', id, state);
      const nextFires = times.map(timeText);
      if (slot === NO_SLOT) return { id, change: 'created', dryRun: true, nextFires };
      const before = parseSchedule(writtenSchedule(state, slot), '', []);
      const isSame = JSON.stringify(before) === JSON.stringify({ settings, input, paused });
      return { id, change: isSame ? 'unchanged' : 'replaced', dryRun: true, nextFires };
    });
  }

  async patch(namespace: string, id: string, patch: unknown, by: Author): Promise<ScheduleView> {
    for (let tries = 1; ; tries++) {
      const { merged, revision } = await this.patched(namespace, id, patch);
      const schedule = parsedOrRefused(merged);
      const { settings, paused, input } = schedule;
      const change = { name: id, settings, paused, ifRevision: revision };
      const view = await this.change(
        namespace,
        { changes: [change], inputs: [input], by },
        ([{ rejection, slot }], state) => {
          if (rejection === 'schedule_changed' && tries < PATCH_TRIES) return undefined;
          if (rejection !== undefined) throw changeRefusal(rejection, id, state);
          return scheduleView(state, slot);
        },
      );
      if (view !== undefined) return view;
    }
  }

  private patched(namespace: string, id: string, patch: unknown) {
    return this.parts.engine.read((state) => {
      const slot = foundSchedule(state, namespace, id);
      const merged = mergePatch(writtenSchedule(state, slot), patch);
      return { merged, revision: state.schedules.table.revision[slot] };
    });
  }

  async remove(namespace: string, id: string, by: Author): Promise<void> {
    const changes = [{ name: id }];
    await this.change(namespace, { changes, inputs: [null], by }, ([{ rejection }], state) => {
      if (rejection !== undefined) throw changeRefusal(rejection, id, state);
    });
  }

  /** Applies checked changes in order. */
  change<T>(
    namespace: string,
    order: {
      readonly changes: readonly ScheduleChange[];
      readonly inputs: readonly unknown[];
      readonly by: Author;
    },
    answer: (outcomes: readonly ScheduleOutcome[], state: ReadonlyState) => T,
  ): Promise<T> {
    const { engine, admission } = this.parts;
    const type = 'change_schedules';
    const { changes, inputs, by } = order;
    this.scratch.begin(
      (index) => `${changes[index].settings?.run ? '/run' : '/task'}/input`,
      false,
    );
    for (const input of inputs) this.scratch.add(input);
    admission.command(type);
    const payloads = { inputs: this.scratch.bytes, inputEnds: this.scratch.ends };
    return engine.execute<ChangeSchedules, T>(
      { type, namespace, changes, ...payloads, by },
      ({ outcomes }, state) => answer(outcomes, state),
    );
  }

  async pause(
    namespace: string,
    id: string,
    { paused, by }: { readonly paused: boolean; readonly by: Author },
  ): Promise<ScheduleView> {
    const { engine, admission } = this.parts;
    const type = 'pause_schedules';
    admission.command(type);
    return engine.execute<PauseSchedules, ScheduleView>(
      { type, namespace, names: [id], paused, by },
      ({ outcomes: [{ rejection, slot }] }, state) => {
        if (rejection !== undefined) throw scheduleNotFound(id);
        return scheduleView(state, slot);
      },
    );
  }

  async trigger(namespace: string, id: string, by: Author): Promise<FireView> {
    const { engine, admission } = this.parts;
    const type = 'trigger_schedule';
    admission.command(type);
    return engine.execute<TriggerSchedule, FireView>(
      { type, namespace, name: id, by },
      ({ rejection, refused, ...made }, state) => {
        if (rejection !== undefined) throw changeRefusal(rejection, id, state);
        if (refused !== undefined) throw fireRefusal(refused, id, state);
        const now = timeText(made.madeAt);
        const status = made.isRun ? 'running' : 'queued';
        return { scheduledAt: now, firedAt: now, ...madeId(state, made), status, endedAt: null };
      },
    );
  }

  async backfill(
    namespace: string,
    id: string,
    { request, by }: { readonly request: BackfillRequest; readonly by: Author },
  ): Promise<BackfillAnswer> {
    const { engine, admission } = this.parts;
    const { ratePerSec = 10, dryRun = false } = request;
    const { from, to } = rangeOf(request, this.parts.clock());
    const type = 'start_backfill';
    admission.command(type);
    const planned = await engine.read((state) =>
      plannedBackfill(state, { namespace, id, from, to }),
    );
    if (dryRun || planned.count === 0) return { ...planned, dryRun };
    const command = { type, namespace, name: id, from, to, ratePerSec, by } as const;
    await engine.execute<StartBackfill, void>(command, ({ rejection }, state) => {
      if (rejection !== undefined) throw changeRefusal(rejection, id, state);
    });
    return { ...planned, dryRun };
  }

  async stopBackfill(namespace: string, id: string, by: Author): Promise<void> {
    const { engine, admission } = this.parts;
    const type = 'end_backfill';
    admission.command(type);
    await engine.execute<EndBackfill, void>({ type, namespace, name: id, by }, (_, state) => {
      foundSchedule(state, namespace, id);
    });
  }
}

function parsedOrRefused(body: unknown): ParsedSchedule {
  const problems: ErrorDetail[] = [];
  const schedule = parseSchedule(body, '', problems);
  if (schedule === undefined) throw invalid(NOT_VALID, problems);
  return schedule;
}

function rangeOf({ from, to }: BackfillRequest, now: number): { from: number; to: number } {
  const problems = [...timeProblems(from, '/from'), ...timeProblems(to, '/to')];
  const range = { from: scheduleTime(from) ?? 0, to: scheduleTime(to) ?? 0 };
  if (problems.length === 0 && range.from > range.to) {
    problems.push({ path: '/to', problem: 'is before from' });
  }
  if (problems.length === 0 && range.to > now) {
    problems.push({
      path: '/to',
      problem: 'is in the future; a backfill is for times that are over',
    });
  }
  if (problems.length > 0) throw invalid('the backfill is not valid', problems);
  return range;
}

function plannedBackfill(
  state: ReadonlyState,
  { namespace, id, from, to }: { namespace: string; id: string; from: number; to: number },
): Omit<BackfillAnswer, 'dryRun'> {
  const slot = foundSchedule(state, namespace, id);
  if (state.schedules.table.replicas[slot] > 0) {
    throw new SluiceError('schedule_is_permanent', `'${id}' is permanent and has no times`);
  }
  const settings = settingsOf(state, slot, UTF8);
  const anchor = state.schedules.table.anchor[slot];
  const times = timesOf(settings, TIME_PORTS.calendar, {
    after: from - 1,
    anchor,
    count: COUNTED_MAX + 1,
    until: to,
  });
  const counted = times.slice(0, COUNTED_MAX);
  return {
    count: counted.length,
    isComplete: times.length <= COUNTED_MAX,
    first: counted.length === 0 ? null : timeText(counted[0]),
    last: counted.length === 0 ? null : timeText(counted.at(-1) ?? 0),
  };
}
