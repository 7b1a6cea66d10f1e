import { CronCalendar, isTimeZone, parseCron } from '@sluice/calendar';
import {
  DEFAULT_NAMESPACE,
  explainSchedule,
  hasThreeDecimals,
  type ListedWork,
  madeId,
  NO_SLOT,
  nextTimes,
  numberOfWork,
  parseConstraint,
  plannedTimes,
  type ReadonlyState,
  SCHEDULE_TAG,
  type ScheduleOutcome,
  type ScheduleSettings,
  type Slot,
  settingsOf,
  shownSettings,
  timesOf,
  viewFire,
  viewSchedule,
} from '@sluice/core';
import { setExecType } from '@sluice/protocol/exec-types';
import { mergePatch } from '@sluice/protocol/merge-patch';
import {
  type ParsedSchedule,
  scheduleProblems,
  scheduleSettings,
  scheduleTime,
} from '@sluice/protocol/schedule-rules';
import type { ErrorDetail } from '../../calls/http-answers.ts';
import { SluiceError } from '../../calls/sluice-error.ts';
import type { Page, PageOptions } from '../../operators/pages.ts';
import type {
  ScheduleBatchItem,
  ScheduleBatchResult,
  SchedulePort,
  ScheduleQuery,
} from '../../operators/schedule-port.ts';
import type {
  BackfillAnswer,
  BackfillRequest,
  FireView,
  ScheduleChange,
  ScheduleExplanation,
  ScheduleRequest,
  ScheduleView,
} from '../../operators/schedule-types.ts';
import { NO_AGENT, refuse, requestProblems } from '../server/checked-requests.ts';
import { pageOf, sortable } from '../server/in-process-lists.ts';
import type { InProcessServer } from '../server/in-process-server.ts';
import { joinedPayloads, UTF8 } from '../server/payloads.ts';
import type { TestBlobs } from '../server/test-blobs.ts';

const namespace = DEFAULT_NAMESPACE;

const SHOWN_TIMES = 5;
const COUNTED_MAX = 10_000;
const BATCH_MAX = 1000;

const PORTS = { calendar: new CronCalendar(), utf8: UTF8 };
const RULES = { hasThreeDecimals, parseConstraint, parseCron, isTimeZone };

interface Parts {
  readonly server: InProcessServer;
  readonly blobs: TestBlobs;
  readonly tasks: (query: object) => Promise<Page<ListedWork>>;
  readonly runs: (query: object) => Promise<Page<ListedWork>>;
}

/** The operations on schedules, on a server in the same process. */
export class InProcessSchedules implements SchedulePort {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  private get state(): ReadonlyState {
    return this.parts.server.partition.state;
  }

  async putSchedule(
    id: string,
    request: ScheduleRequest,
    dryRun: boolean,
  ): Promise<ScheduleChange> {
    const parsed = checked(request);
    if (dryRun) return this.plan(id, parsed);
    const { change, slot } = this.change(id, parsed);
    const times = nextTimes(this.state, slot, { ...PORTS, count: SHOWN_TIMES });
    return { id, change: change ?? 'unchanged', dryRun, nextFires: times.map(timeText) };
  }

  private plan(id: string, { settings }: Parsed): ScheduleChange {
    const { now } = this.parts.server;
    const times = plannedTimes(settings, PORTS.calendar, { now, count: SHOWN_TIMES });
    if (times.length === 0 && !('permanent' in settings.spec)) throw neverFires();
    const change = this.find(id) === NO_SLOT ? 'created' : 'replaced';
    return { id, change, dryRun: true, nextFires: times.map(timeText) };
  }

  async patchSchedule(id: string, patch: object): Promise<ScheduleView> {
    const merged = mergePatch(shownSettings(this.state, this.found(id), UTF8), patch);
    return this.view(this.change(id, checked(merged as ScheduleRequest)).slot);
  }

  async deleteSchedule(id: string): Promise<void> {
    this.execute([{ name: id }], undefined);
  }

  async getSchedule(id: string): Promise<ScheduleView> {
    return this.view(this.found(id));
  }

  async listSchedules({
    limit,
    cursor,
    ...query
  }: ScheduleQuery & PageOptions): Promise<Page<ScheduleView>> {
    const { table } = this.state.schedules;
    const slots = Array.from({ length: table.used }, (_, slot) => slot as Slot);
    const views = slots.filter((slot) => table.number[slot] !== 0).map((slot) => this.view(slot));
    const placed = views
      .filter((view) => isMeant(view, query))
      .map((view, place) => ({ place: sortable(place + 1), show: () => view }));
    const page = {
      ...(limit === undefined ? {} : { limit }),
      ...(cursor == null ? {} : { cursor }),
    };
    return pageOf(placed, page, this.parts.server.now);
  }

  async pauseSchedule(id: string, paused: boolean): Promise<ScheduleView> {
    const command = { type: 'pause_schedules', namespace, names: [id], paused } as const;
    this.parts.server.execute(command, ({ outcomes: [{ rejection }] }) => {
      if (rejection !== undefined) throw notFound(id);
    });
    return this.view(this.found(id));
  }

  async triggerSchedule(id: string): Promise<FireView> {
    const command = { type: 'trigger_schedule', namespace, name: id } as const;
    return this.parts.server.execute(command, ({ rejection, refused, ...made }, state) => {
      if (rejection !== undefined) throw refusal(rejection, id);
      if (refused !== undefined) throw refusal(refused, id);
      const now = timeText(made.madeAt);
      const status = made.isRun ? 'running' : 'queued';
      return { scheduledAt: now, firedAt: now, ...madeId(state, made), status, endedAt: null };
    });
  }

  async previewSchedule(id: string, count: number): Promise<readonly string[]> {
    return nextTimes(this.state, this.found(id), { ...PORTS, count }).map(timeText);
  }

  async backfillSchedule(id: string, request: BackfillRequest): Promise<BackfillAnswer> {
    const slot = this.found(id);
    const [from, to] = [scheduleTime(request.from) ?? 0, scheduleTime(request.to) ?? 0];
    const { ratePerSec = 10, dryRun = false } = request;
    const anchor = this.state.schedules.table.anchor[slot];
    const asked = { after: from - 1, anchor, count: COUNTED_MAX + 1, until: to };
    const times = timesOf(settingsOf(this.state, slot, UTF8), PORTS.calendar, asked);
    const order = { name: id, from, to, ratePerSec };
    if (!dryRun) {
      const command = { type: 'start_backfill', namespace, ...order } as const;
      this.parts.server.execute(command, ({ rejection }) => {
        if (rejection !== undefined) throw refusal(rejection, id);
      });
    }
    return {
      count: Math.min(times.length, COUNTED_MAX),
      isComplete: times.length <= COUNTED_MAX,
      first: times.length === 0 ? null : timeText(times[0]),
      last: times.length === 0 ? null : timeText(times[times.length - 1]),
      dryRun,
    };
  }

  async stopBackfill(id: string): Promise<void> {
    this.found(id);
    this.parts.server.execute({ type: 'end_backfill', namespace, name: id });
  }

  async listFires(id: string, page: PageOptions): Promise<Page<FireView>> {
    this.found(id);
    const { tasks, runs, server } = this.parts;
    const query = { tags: { [SCHEDULE_TAG]: id } };
    const works = [...(await everything(tasks, query)), ...(await everything(runs, query))];
    const placed = works.map((item) => ({
      // The newest come first.
      place: sortable(Number.MAX_SAFE_INTEGER - numberOfWork(item)),
      show: () => viewFire(item),
    }));
    return pageOf(placed, page, server.now);
  }

  async changeSchedules(
    items: readonly ScheduleBatchItem[],
  ): Promise<readonly ScheduleBatchResult[]> {
    refuse('the batch is not valid', batchProblems(items));
    const results: ScheduleBatchResult[] = [];
    for (const item of items) results.push(await this.changeOne(item));
    return results;
  }

  private async changeOne(item: ScheduleBatchItem): Promise<ScheduleBatchResult> {
    const { op, id, ...fields } = item;
    try {
      if (op === 'delete') {
        await this.deleteSchedule(id);
        return { id, ok: true, change: 'deleted' };
      }
      const before = op === 'put' ? {} : shownSettings(this.state, this.found(id), UTF8);
      const request = op === 'put' ? fields : mergePatch(before, fields);
      const { change } = this.change(id, checked(request as ScheduleRequest));
      return { id, ok: true, change: change ?? 'unchanged' };
    } catch (cause) {
      if (!(cause instanceof SluiceError)) throw cause;
      const { code, message, details = [] } = cause;
      return { id, error: { code, message, ...(details.length === 0 ? {} : { details }) } };
    }
  }

  async explainSchedule(id: string): Promise<ScheduleExplanation> {
    return explainSchedule(this.state, this.found(id), PORTS);
  }

  private change(id: string, { settings, input, paused }: Parsed): ScheduleOutcome {
    return this.execute([{ name: id, settings, paused }], input);
  }

  private execute(
    changes: readonly { name: string; settings?: ScheduleSettings; paused?: boolean }[],
    input: unknown,
  ): ScheduleOutcome {
    const { server, blobs } = this.parts;
    const given = input === null ? undefined : input;
    const { bytes, ends } = joinedPayloads([given], () => '/task/input', blobs);
    const payloads = { inputs: bytes, inputEnds: ends };
    const command = { type: 'change_schedules', namespace, changes, ...payloads } as const;
    return server.execute(command, ({ outcomes: [outcome] }) => {
      if (outcome.rejection !== undefined) throw refusal(outcome.rejection, changes[0].name);
      return outcome;
    });
  }

  private find(id: string): Slot {
    const use = this.state.namespaces.find(namespace);
    return use === undefined ? NO_SLOT : this.state.schedules.find(use.index, UTF8.encode(id));
  }

  private found(id: string): Slot {
    const slot = this.find(id);
    if (slot === NO_SLOT) throw notFound(id);
    return slot;
  }

  private view(slot: Slot): ScheduleView {
    return viewSchedule(this.state, slot, UTF8) as unknown as ScheduleView;
  }
}

/** All pages of a list. */
async function everything(
  list: Parts['tasks'],
  query: { readonly tags: Readonly<Record<string, string>> },
): Promise<ListedWork[]> {
  const works: ListedWork[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await list(cursor == null ? query : { ...query, cursor });
    works.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return works;
}

function batchProblems(items: readonly ScheduleBatchItem[]): ErrorDetail[] {
  if (items.length < 1 || items.length > BATCH_MAX) {
    return [{ path: '', problem: `has ${items.length} changes; 1 to ${BATCH_MAX} are allowed` }];
  }
  return items.flatMap(({ op }, place) => {
    const isKnown = ['put', 'patch', 'delete'].includes(op);
    return isKnown ? [] : [{ path: `/${place}/op`, problem: 'is not put, patch or delete' }];
  });
}

type Parsed = ParsedSchedule<ScheduleSettings>;

function checked(request: ScheduleRequest): Parsed {
  const sent = JSON.parse(JSON.stringify(request)) as Parameters<typeof scheduleProblems>[0];
  setExecType(sent.task);
  const problems: ErrorDetail[] = requestProblems('ScheduleRequest', sent, '');
  if (sent.task?.exec !== undefined) problems.push({ path: '/task/exec', problem: NO_AGENT });
  if (problems.length === 0) problems.push(...scheduleProblems(sent, RULES));
  refuse('the schedule is not valid', problems);
  return scheduleSettings<ScheduleSettings>(sent);
}

function isMeant(view: ScheduleView, { tags = {}, ...query }: ScheduleQuery): boolean {
  const { state, type, workflow, q } = query;
  if (state !== undefined && view.state !== state) return false;
  if (type !== undefined && view.task?.type !== type) return false;
  if (workflow !== undefined && view.run?.workflow !== workflow) return false;
  if (q !== undefined && !view.id.includes(q)) return false;
  const next = view.nextFireAt === null ? Number.NaN : Date.parse(view.nextFireAt);
  const { nextBefore, nextAfter } = query;
  if (nextBefore !== undefined && !(next < new Date(nextBefore).getTime())) return false;
  if (nextAfter !== undefined && !(next > new Date(nextAfter).getTime())) return false;
  return Object.entries(tags).every(([name, value]) => view.tags?.[name] === value);
}

function notFound(id: string): SluiceError {
  return new SluiceError('schedule_not_found', `no schedule '${id}'`, { status: 404 });
}

function neverFires(): SluiceError {
  const message = 'the schedule would never fire: /spec has no time from now on';
  return new SluiceError('invalid_request', message, { status: 400 });
}

function refusal(rejection: string, id: string): SluiceError {
  if (rejection === 'schedule_not_found') return notFound(id);
  if (rejection === 'never_fires') return neverFires();
  const status = rejection === 'workflow_not_found' ? 404 : 409;
  return new SluiceError(rejection, `'${id}' was refused: ${rejection}`, { status });
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
