import { jsonText } from '../base/json-text.ts';
import type { ApiRequest } from '../calls/api-calls.ts';
import { bodyOf, type PromisedCall } from '../calls/promised-call.ts';
import { SluiceError } from '../calls/sluice-error.ts';
import type { Page, PageOptions } from '../operators/pages.ts';
import { queryText } from '../operators/query-text.ts';
import type {
  ScheduleBatchItem,
  ScheduleBatchResult,
  SchedulePort,
  ScheduleQuery,
} from '../operators/schedule-port.ts';
import type {
  BackfillAnswer,
  BackfillRequest,
  FireView,
  ScheduleChange,
  ScheduleExplanation,
  ScheduleRequest,
  ScheduleView,
} from '../operators/schedule-types.ts';

/** The operations on schedules, over HTTP. */
export class RemoteSchedules implements SchedulePort {
  private readonly call: PromisedCall;

  constructor(call: PromisedCall) {
    this.call = call;
  }

  putSchedule(id: string, request: ScheduleRequest, dryRun: boolean): Promise<ScheduleChange> {
    const path = `${pathOf(id)}${dryRun ? '?dryRun=true' : ''}`;
    return this.send({ method: 'PUT', path }, request);
  }

  patchSchedule(id: string, patch: object): Promise<ScheduleView> {
    return this.send({ method: 'PATCH', path: pathOf(id) }, patch);
  }

  async deleteSchedule(id: string): Promise<void> {
    await this.call({ method: 'DELETE', path: pathOf(id), doneWhen: 'schedule_not_found' });
  }

  async changeSchedules(
    items: readonly ScheduleBatchItem[],
  ): Promise<readonly ScheduleBatchResult[]> {
    const path = '/v1/schedules/batch';
    const answer = await this.send<{ items: ScheduleBatchResult[] }>(
      { method: 'POST', path },
      items,
    );
    return answer.items;
  }

  getSchedule(id: string): Promise<ScheduleView> {
    return this.send({ method: 'GET', path: pathOf(id) });
  }

  listSchedules({ tags = {}, ...query }: ScheduleQuery & PageOptions): Promise<Page<ScheduleView>> {
    const named = Object.entries(tags).map(([name, value]) => [`tag.${name}`, value]);
    const text = queryText({ ...query, ...Object.fromEntries(named) });
    return this.send({ method: 'GET', path: `/v1/schedules${text}` });
  }

  pauseSchedule(id: string, paused: boolean): Promise<ScheduleView> {
    return this.send({ method: 'POST', path: `${pathOf(id)}/${paused ? 'pause' : 'resume'}` });
  }

  /** Not sent twice: each one makes something. */
  triggerSchedule(id: string): Promise<FireView> {
    return this.send({ method: 'POST', path: `${pathOf(id)}/trigger`, isOnce: true });
  }

  async previewSchedule(id: string, count: number): Promise<readonly string[]> {
    const path = `${pathOf(id)}/preview?count=${count}`;
    const { items } = await this.send<{ items: { at: string }[] }>({ method: 'GET', path });
    return items.map(({ at }) => at);
  }

  backfillSchedule(id: string, request: BackfillRequest): Promise<BackfillAnswer> {
    return this.send({ method: 'POST', path: `${pathOf(id)}/backfill`, isOnce: true }, request);
  }

  async stopBackfill(id: string): Promise<void> {
    await this.call({ method: 'DELETE', path: `${pathOf(id)}/backfill` });
  }

  listFires(id: string, page: PageOptions): Promise<Page<FireView>> {
    return this.send({ method: 'GET', path: `${pathOf(id)}/fires${queryText(page)}` });
  }

  explainSchedule(id: string): Promise<ScheduleExplanation> {
    return this.send({ method: 'GET', path: `${pathOf(id)}/explain` });
  }

  private async send<T extends object>(
    request: Omit<ApiRequest, 'body'>,
    body?: object,
  ): Promise<T> {
    if (body === undefined) return bodyOf<T>(await this.call(request));
    const json = jsonText(body);
    if ('problem' in json) {
      const message = `the schedule is not JSON: ${json.problem}`;
      throw new SluiceError('invalid_request', message, { status: 400 });
    }
    return bodyOf<T>(await this.call({ ...request, body: json.text }));
  }
}

function pathOf(id: string): string {
  return `/v1/schedules/${encodeURIComponent(id)}`;
}
