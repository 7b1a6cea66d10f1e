import { type Author, DEFAULT_NAMESPACE } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { BackfillRequest } from '@sluice/protocol';
import { type Admission, changeSchedules, ScheduleOperations } from '@sluice/server';
import type { Answer } from './requests.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly clock: () => number;
}

/** The operator that audit records name. */
const BY: Author = {
  actor: 'k_1',
  address: '192.0.2.1',
  request: 'q_3',
  subject: 'a schedule',
  detail: '',
};

/** Requests about schedules, through the classes of the server. */
export class ScheduleRequests {
  private readonly engine: Engine;
  private readonly operations: ScheduleOperations;

  constructor(parts: Parts) {
    this.engine = parts.engine;
    this.operations = new ScheduleOperations(parts);
  }

  async dispatch(method: string, path: string, body: unknown): Promise<Answer> {
    const [, , , id, last] = path.split('/');
    const { engine, operations } = this;
    const namespace = DEFAULT_NAMESPACE;
    if (id === 'batch') {
      const items = await changeSchedules({ engine, operations }, { namespace, body, by: BY });
      return answer(200, { items });
    }
    if (method === 'PUT') return answer(200, await operations.put(namespace, id, body, BY));
    if (method === 'PATCH') return answer(200, await operations.patch(namespace, id, body, BY));
    if (last === 'trigger') return answer(201, await operations.trigger(namespace, id, BY));
    if (last === 'backfill') return this.backfill(method, id, body);
    if (method === 'DELETE') {
      await operations.remove(namespace, id, BY);
      return { status: 204, body: '' };
    }
    const paused = last === 'pause';
    return answer(200, await operations.pause(namespace, id, { paused, by: BY }));
  }

  private async backfill(method: string, id: string, body: unknown): Promise<Answer> {
    const { operations } = this;
    if (method === 'DELETE') {
      await operations.stopBackfill(DEFAULT_NAMESPACE, id, BY);
      return { status: 204, body: '' };
    }
    const request = body as BackfillRequest;
    return answer(202, await operations.backfill(DEFAULT_NAMESPACE, id, { request, by: BY }));
  }
}

function answer(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) };
}
