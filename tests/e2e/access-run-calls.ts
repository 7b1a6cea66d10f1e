import type { RouteName } from '@sluice/protocol';
import type { KeyedApi } from '../support/keyed-api.ts';
import { done, fresh, type Prepare } from './access-call.ts';

const DEFINITION = { tasks: [{ name: 'nobody-runs-it', taskReferenceName: 'only' }] };

async function newWorkflow(shop: KeyedApi): Promise<string> {
  const name = fresh('workflow');
  const path = `/v1/workflows/${name}/versions/1`;
  await done(shop.call({ method: 'PUT', path, body: DEFINITION }));
  return name;
}

async function newRun(shop: KeyedApi): Promise<string> {
  const body = { workflow: fresh('workflow'), definition: DEFINITION };
  return (await done(shop.post('/v1/runs', body))).id;
}

function ofWorkflow(action: string, body?: object, own = 200): Prepare {
  return async (shop) => {
    const path = `/v1/workflows/${await newWorkflow(shop)}${action}`;
    const call = { path, ...(body === undefined ? {} : { body }) };
    return { call, own, foreign: { code: 'workflow_not_found' } };
  };
}

function ofRun(action: string, own = 200): Prepare {
  return async (shop) => {
    const call = { path: `/v1/runs/${await newRun(shop)}${action}` };
    return { call, own, foreign: { code: 'run_not_found' } };
  };
}

function ofStep(action: string, body?: object): Prepare {
  return async (shop) => {
    const tasks = [{ taskReferenceName: 'ask', type: 'HUMAN' }];
    const start = { workflow: fresh('workflow'), definition: { tasks } };
    const { id } = await done(shop.post('/v1/runs', start));
    const call = { path: `/v1/runs/${id}/steps/ask${action}`, ...(body ? { body } : {}) };
    return { call, own: 200, foreign: { code: 'run_not_found' } };
  };
}

function ofEndedRun(action: string, body?: object): Prepare {
  return async (shop) => {
    const id = await newRun(shop);
    await done(shop.post(`/v1/runs/${id}/cancel`, {}));
    const call = { path: `/v1/runs/${id}${action}`, ...(body ? { body } : {}) };
    return { call, own: 200, foreign: { code: 'run_not_found' } };
  };
}

/** Calls about workflows and runs. */
export const RUN_CALLS = {
  listWorkflows: async (shop) => {
    const name = await newWorkflow(shop);
    return { call: { path: '/v1/workflows?limit=1000' }, own: 200, foreign: { hides: name } };
  },
  getWorkflow: ofWorkflow(''),
  getWorkflowVersion: ofWorkflow('/versions/1'),
  putWorkflowVersion: async (shop) => {
    const path = `/v1/workflows/${await newWorkflow(shop)}/versions/1`;
    const body = { ...DEFINITION, description: fresh('text') };
    return { call: { path, body }, own: 200, foreign: { hides: 'shop' } };
  },
  deleteWorkflowVersion: ofWorkflow('/versions/1', undefined, 204),
  startRuns: async (shop) => {
    const call = { path: '/v1/runs', body: { workflow: await newWorkflow(shop) } };
    return { call, own: 201, foreign: { code: 'workflow_not_found' } };
  },
  listRuns: async (shop) => {
    const id = await newRun(shop);
    return { call: { path: '/v1/runs?limit=1000' }, own: 200, foreign: { hides: id } };
  },
  getRun: ofRun(''),
  explainRun: ofRun('/explain'),
  getRunDefinition: ofRun('/definition'),
  getRunHistory: ofRun('/history'),
  listRunSteps: ofRun('/steps'),
  waitForRun: ofRun('/wait?timeoutMs=0'),
  cancelRun: ofRun('/cancel'),
  pauseRun: ofRun('/pause'),
  resumeRun: async (shop) => {
    const id = await newRun(shop);
    await done(shop.post(`/v1/runs/${id}/pause`, {}));
    return {
      call: { path: `/v1/runs/${id}/resume` },
      own: 200,
      foreign: { code: 'run_not_found' },
    };
  },
  retryRun: ofEndedRun('/retry'),
  restartRun: ofEndedRun('/restart'),
  rerunRun: ofEndedRun('/rerun', { fromStep: 'only' }),
  completeRunStep: ofStep('/complete'),
  skipRunStep: async (shop) => {
    const id = await newRun(shop);
    await done(shop.post(`/v1/runs/${id}/cancel`, {}));
    const call = { path: `/v1/runs/${id}/steps/only/skip` };
    return { call, own: 200, foreign: { code: 'run_not_found' } };
  },
  failRunStep: ofStep('/fail', { error: { message: 'no' } }),
} satisfies Partial<Record<RouteName, Prepare>>;
