/** One call of each route about an object in the namespace `shop`, and the expected answers. */
import { createHash, randomBytes } from 'node:crypto';
import type { RouteName } from '@sluice/protocol';
import type { KeyedApi } from '../support/keyed-api.ts';
import { done, fresh, type Prepare } from './access-call.ts';
import { RUN_CALLS } from './access-run-calls.ts';
import { SCHEDULE_CALLS } from './access-schedule-calls.ts';

interface Task {
  readonly id: string;
  readonly type: string;
}

async function newTask(shop: KeyedApi, type = fresh('type')): Promise<Task> {
  const { id } = await done(shop.post('/v1/tasks', { type }));
  return { id, type };
}

async function deadLetter(shop: KeyedApi, type?: string): Promise<Task> {
  const task = await newTask(shop, type);
  await done(shop.post(`/v1/tasks/${task.id}/fail`, { error: { message: 'no' } }));
  return task;
}

/** A call that another namespace answers with 404. */
function ofTask(action: string, body?: object, own = 200): Prepare {
  return async (shop) => {
    const { id } = await newTask(shop);
    const call = { path: `/v1/tasks/${id}${action}`, ...(body === undefined ? {} : { body }) };
    return { call, own, foreign: { code: 'task_not_found' } };
  };
}

/** A call about several tasks. In another namespace, each of them is reported as not found. */
function ofMany(path: string, bodyOf: (id: string) => unknown): Prepare {
  return async (shop) => {
    const { id, type } = await newTask(shop);
    return { call: { path, body: bodyOf(id) }, own: 200, foreign: { hides: type } };
  };
}

async function newType(shop: KeyedApi): Promise<string> {
  const type = fresh('type');
  const path = `/v1/task-types/${type}`;
  await done(shop.call({ method: 'PUT', path, body: { priority: 7 } }));
  return type;
}

const SESSION = { name: 'worker-of-shop', types: [{ type: 'nothing' }], leaseMs: 600_000 };

/** A worker session of the shop. Its stream breaks, and the server waits for it to return. */
async function newSession(shop: KeyedApi, name = SESSION.name): Promise<string> {
  const sessionId = `s_${randomBytes(18).toString('base64url')}`;
  // A session keeps the id that its worker resumes with.
  const resume = { sessionId, running: [] };
  await shop.post('/v1/worker-sessions', { ...SESSION, name, resume });
  return sessionId;
}

async function newRedrive(shop: KeyedApi): Promise<string> {
  const type = fresh('type');
  for (let n = 0; n < 2; n++) await deadLetter(shop, type);
  const body = { filter: { type }, ratePerSec: 0.001 };
  return (await done(shop.post('/v1/dead-letters/redrive', body))).id;
}

/** A callback that was given up: the server refuses to call addresses of this machine. */
async function newCallback(shop: KeyedApi): Promise<string> {
  const callback = { url: 'http://127.0.0.1:9/', on: ['failed'] };
  const { id } = await done(shop.post('/v1/tasks', { type: fresh('type'), callback }));
  await done(shop.post(`/v1/tasks/${id}/fail`, { error: { message: 'no' } }));
  const { items } = await done(shop.get('/v1/callbacks?limit=1000'));
  return items.find(({ taskId }: { taskId: string }) => taskId === id).id;
}

function newBlob(): { readonly path: string; readonly body: object } {
  const body = { text: fresh('blob') };
  const sha256 = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  return { path: `/v1/blobs/${sha256}`, body };
}

const TASK_CALLS = {
  submitTasks: async () => ({
    call: { path: '/v1/tasks', body: { type: fresh('type') } },
    own: 201,
    foreign: { hides: 'shop' },
  }),
  listTasks: async (shop) => {
    const { id } = await newTask(shop);
    return { call: { path: '/v1/tasks?limit=1000' }, own: 200, foreign: { hides: id } };
  },
  followEvents: async (shop) => {
    const { id } = await newTask(shop);
    const call = { path: `/v1/events?task=${id}` };
    return { call, own: 200, foreign: { code: 'task_not_found' } };
  },
  followChanges: async () => ({
    call: { path: '/v1/changes' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
  patchTasks: ofMany('/v1/tasks', (id) => [{ id, priority: 1 }]),
  getTasks: ofMany('/v1/tasks/get', (id) => ({ ids: [id] })),
  waitForTasks: async (shop) => {
    const { id, type } = await deadLetter(shop);
    const call = { path: '/v1/tasks/wait', body: { ids: [id], timeoutMs: 0 } };
    return { call, own: 200, foreign: { hides: type } };
  },
  cancelTasks: ofMany('/v1/tasks/cancel', (id) => ({ ids: [id] })),
  retryTasks: ofMany('/v1/tasks/retry', (id) => ({ ids: [id] })),
  getTask: ofTask(''),
  patchTask: ofTask('', { priority: 2 }),
  waitForTask: ofTask('/wait?timeoutMs=0'),
  getTaskHistory: ofTask('/history'),
  getTaskCallbacks: ofTask('/callbacks'),
  explainTask: ofTask('/explain'),
  getTaskLogs: ofTask('/logs'),
  cancelTask: ofTask('/cancel'),
  retryTask: async (shop) => {
    const { id } = await deadLetter(shop);
    const call = { path: `/v1/tasks/${id}/retry` };
    return { call, own: 200, foreign: { code: 'task_not_found' } };
  },
  pauseTask: ofTask('/pause'),
  resumeTask: ofTask('/resume'),
  signalTask: ofTask('/signal', { name: 'go' }, 409),
  completeTask: ofTask('/complete', { output: 1 }),
  failTask: ofTask('/fail', { error: { message: 'no' } }),
} satisfies Partial<Record<RouteName, Prepare>>;

const WORKER_CALLS = {
  openWorkerSession: async (shop) => {
    const resume = { sessionId: await newSession(shop), running: [] };
    const call = { path: '/v1/worker-sessions', body: { ...SESSION, resume } };
    return { call, own: 200, foreign: { code: 'session_not_found' } };
  },
  reportAttempts: async (shop) => {
    const path = `/v1/worker-sessions/${await newSession(shop)}/reports`;
    return { call: { path }, own: 200, foreign: { code: 'session_not_found' } };
  },
  closeWorkerSession: async (shop) => {
    const path = `/v1/worker-sessions/${await newSession(shop)}`;
    return { call: { path }, own: 204, foreign: { code: 'session_not_found' } };
  },
  listWorkers: async (shop) => {
    const name = fresh('worker');
    await newSession(shop, name);
    return { call: { path: '/v1/workers?limit=1000' }, own: 200, foreign: { hides: name } };
  },
  drainWorker: async (shop) => {
    const name = fresh('worker');
    await newSession(shop, name);
    const { items } = await done(shop.get('/v1/workers?limit=1000'));
    const { id } = items.find((worker: { name: string }) => worker.name === name);
    const call = { path: `/v1/workers/${id}/drain` };
    return { call, own: 200, foreign: { code: 'worker_not_found' } };
  },
} satisfies Partial<Record<RouteName, Prepare>>;

const BLOB_CALLS = {
  putBlob: async () => {
    const { path, body } = newBlob();
    return { call: { path, body }, own: 200, foreign: { hides: 'shop' } };
  },
  getBlob: async (shop) => {
    const { path, body } = newBlob();
    await done(shop.call({ method: 'PUT', path, body }));
    return { call: { path }, own: 200, foreign: { code: 'blob_not_found' } };
  },
} satisfies Partial<Record<RouteName, Prepare>>;

const QUEUE_CALLS = {
  listTaskTypes: async (shop) => {
    const type = await newType(shop);
    return { call: { path: '/v1/task-types?limit=1000' }, own: 200, foreign: { hides: type } };
  },
  getTaskType: async (shop) => {
    const path = `/v1/task-types/${await newType(shop)}`;
    return { call: { path }, own: 200, foreign: { code: 'task_type_not_found' } };
  },
  putTaskType: async (shop) => {
    const path = `/v1/task-types/${await newType(shop)}`;
    return { call: { path, body: { priority: 3 } }, own: 200, foreign: { hides: 'shop' } };
  },
  deleteTaskType: async (shop) => {
    const path = `/v1/task-types/${await newType(shop)}`;
    return { call: { path }, own: 204, foreign: { code: 'task_type_not_found' } };
  },
  listQueues: async (shop) => {
    const { type } = await newTask(shop);
    return { call: { path: '/v1/queues?limit=1000' }, own: 200, foreign: { hides: type } };
  },
  patchQueue: async (shop) => {
    const { type } = await newTask(shop);
    const call = { path: `/v1/queues/${type}`, body: { paused: true } };
    return { call, own: 200, foreign: { hides: '"depth":1' } };
  },
  listDeadLetters: async (shop) => {
    const { type } = await deadLetter(shop);
    return { call: { path: '/v1/dead-letters?limit=1000' }, own: 200, foreign: { hides: type } };
  },
  startRedrive: async (shop) => {
    const { type } = await deadLetter(shop);
    const call = { path: '/v1/dead-letters/redrive', body: { filter: { type } } };
    return { call, own: 202, foreign: { hides: '"count":1' } };
  },
  listRedrives: async (shop) => {
    const id = await newRedrive(shop);
    return {
      call: { path: '/v1/dead-letters/redrives?limit=1000' },
      own: 200,
      foreign: { hides: `"${id}"` },
    };
  },
  endRedrive: async (shop) => {
    const path = `/v1/dead-letters/redrives/${await newRedrive(shop)}`;
    return { call: { path }, own: 204, foreign: { code: 'redrive_not_found' } };
  },
  discardDeadLetters: async (shop) => {
    const { type } = await deadLetter(shop);
    const call = { path: '/v1/dead-letters/discard', body: { filter: { type } } };
    return { call, own: 200, foreign: { hides: '"discarded":1' } };
  },
} satisfies Partial<Record<RouteName, Prepare>>;

async function newKey(shop: KeyedApi): Promise<string> {
  return (await done(shop.post('/v1/keys', { role: 'viewer' }))).id;
}

const ACCESS_CALLS = {
  createKey: async () => ({
    call: { path: '/v1/keys', body: { role: 'viewer', namespace: 'shop' } },
    own: 201,
    foreign: { code: 'forbidden' },
  }),
  listKeys: async (shop) => {
    const id = await newKey(shop);
    return { call: { path: '/v1/keys?limit=1000' }, own: 200, foreign: { hides: id } };
  },
  revokeKey: async (shop) => {
    const path = `/v1/keys/${await newKey(shop)}`;
    return { call: { path }, own: 204, foreign: { code: 'key_not_found' } };
  },
  getCaller: async () => ({
    call: { path: '/v1/login' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
  logIn: async (shop) => {
    const { body } = await shop.post('/v1/keys', { role: 'viewer' });
    const call = { path: '/v1/login', body: { key: body.key } };
    return { call, own: 200, foreign: { hides: body.key } };
  },
  logOut: async () => ({
    call: { path: '/v1/login' },
    own: 204,
    foreign: { hides: 'shop' },
  }),
  listAudit: async (shop) => {
    const id = await newKey(shop);
    return { call: { path: '/v1/audit?limit=1000' }, own: 200, foreign: { hides: id } };
  },
  listCallbacks: async (shop) => {
    const id = await newCallback(shop);
    return { call: { path: '/v1/callbacks?limit=1000' }, own: 200, foreign: { hides: id } };
  },
  redeliverCallbacks: async (shop) => {
    const call = { path: '/v1/callbacks/redeliver', body: { ids: [await newCallback(shop)] } };
    return { call, own: 200, foreign: { hides: '"redelivered":1' } };
  },
  groupDeadLetters: async (shop) => {
    const { type } = await deadLetter(shop);
    return { call: { path: '/v1/dead-letters/groups' }, own: 200, foreign: { hides: type } };
  },
  getStats: async () => ({
    call: { path: '/v1/stats' },
    own: 403,
    foreign: { code: 'forbidden' },
  }),
  takeBackup: async () => ({
    call: { path: '/v1/backup' },
    own: 403,
    foreign: { code: 'forbidden' },
  }),
  getCluster: async () => ({
    call: { path: '/v1/cluster' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
  healthLive: async () => ({
    call: { path: '/health/live' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
  healthReady: async () => ({
    call: { path: '/health/ready' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
  // This route covers all namespaces.
  getMetrics: async () => ({
    call: { path: '/metrics' },
    own: 403,
    foreign: { code: 'forbidden' },
  }),
  getIndex: async () => ({
    call: { path: '/' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
  getOpenApi: async () => ({
    call: { path: '/openapi.json' },
    own: 200,
    foreign: { hides: 'shop' },
  }),
} satisfies Partial<Record<RouteName, Prepare>>;

/** A route that is added to the protocol must be added here. */
export const ACCESS_MATRIX: Readonly<Record<RouteName, Prepare>> = {
  ...TASK_CALLS,
  ...WORKER_CALLS,
  ...BLOB_CALLS,
  ...QUEUE_CALLS,
  ...ACCESS_CALLS,
  ...RUN_CALLS,
  ...SCHEDULE_CALLS,
};
