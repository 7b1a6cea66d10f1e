import type { RouteName } from '@sluice/protocol';
import type { KeyedApi } from '../support/keyed-api.ts';
import { done, fresh, type Prepare } from './access-call.ts';

const SCHEDULE = { spec: { cron: '0 3 1 1 *' }, task: { type: 'nobody-runs-it' } };

/** Two times, and far too slow to end soon. */
const RANGE = { from: '2020-12-01T00:00:00Z', to: '2022-02-01T00:00:00Z', ratePerSec: 0.001 };

async function newSchedule(shop: KeyedApi): Promise<string> {
  const id = fresh('schedule');
  await done(shop.call({ method: 'PUT', path: `/v1/schedules/${id}`, body: SCHEDULE }));
  return id;
}

function ofSchedule(action: string, body?: object, own = 200): Prepare {
  return async (shop) => {
    const path = `/v1/schedules/${await newSchedule(shop)}${action}`;
    const call = { path, ...(body === undefined ? {} : { body }) };
    return { call, own, foreign: { code: 'schedule_not_found' } };
  };
}

/** Calls about schedules. */
export const SCHEDULE_CALLS = {
  listSchedules: async (shop) => {
    const id = await newSchedule(shop);
    return { call: { path: '/v1/schedules?limit=1000' }, own: 200, foreign: { hides: id } };
  },
  getScheduleCalendar: async () => ({
    call: { path: '/v1/schedule-calendar' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
  getSchedule: ofSchedule(''),
  putSchedule: async (shop) => {
    const path = `/v1/schedules/${await newSchedule(shop)}`;
    // Ids are names in a namespace: another one gets its own schedule.
    const body = { ...SCHEDULE, jitterMs: 5 };
    return { call: { path, body }, own: 200, foreign: { hides: 'replaced' } };
  },
  changeSchedules: async (shop) => {
    const id = await newSchedule(shop);
    const body = [{ op: 'delete', id }];
    const call = { path: '/v1/schedules/batch', body };
    return { call, own: 200, foreign: { hides: '"ok":true' } };
  },
  patchSchedule: ofSchedule('', { jitterMs: 5 }),
  deleteSchedule: ofSchedule('', undefined, 204),
  pauseSchedule: ofSchedule('/pause', {}),
  resumeSchedule: ofSchedule('/resume', {}),
  triggerSchedule: ofSchedule('/trigger', {}, 201),
  previewSchedule: ofSchedule('/preview'),
  backfillSchedule: ofSchedule('/backfill', RANGE, 202),
  stopBackfill: async (shop) => {
    const path = `/v1/schedules/${await newSchedule(shop)}/backfill`;
    await done(shop.post(path, RANGE));
    return { call: { path }, own: 204, foreign: { code: 'schedule_not_found' } };
  },
  listFires: ofSchedule('/fires'),
  explainSchedule: ofSchedule('/explain'),
} satisfies Partial<Record<RouteName, Prepare>>;
