import {
  type Author,
  DEFAULT_NAMESPACE,
  type DeleteWorkflow,
  type PutWorkflow,
  type PutWorkflowReply,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { type Admission, type Gateway, RunArchive, RunOperations } from '@sluice/server';
import type { Answer } from './requests.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly gateway: Gateway;
  readonly clock: () => number;
}

/** Requests of these worlds do not read rows: a run that left memory is not found. */
const NO_ROWS = { run: async () => null, runReadmission: async () => undefined } as never;

/** The operator that audit records name. */
const BY: Author = {
  actor: 'k_1',
  address: '192.0.2.1',
  request: 'q_2',
  subject: 'a run',
  detail: '',
};

/** Requests about workflows and runs. Starts and cancels go through the classes of the server. */
export class RunRequests {
  private readonly parts: Parts;
  private readonly operations: RunOperations;
  private readonly archive: RunArchive;

  constructor(parts: Parts) {
    this.parts = parts;
    const { engine, admission, gateway, clock } = parts;
    this.archive = new RunArchive({ engine, admission, clock, projection: NO_ROWS });
    this.operations = new RunOperations({
      engine,
      admission,
      refuseWhileWaking: () => gateway.refuseWhileWaking(),
      onStarted: () => undefined,
      runs: this.archive,
    });
  }

  async dispatch(method: string, path: string, body: unknown): Promise<Answer> {
    const [, , collection, id, last] = path.split('/');
    if (collection === 'workflows') {
      const version = Number(last);
      return method === 'PUT' ? this.put(id, version, body) : this.remove(id, version);
    }
    if (method === 'GET') {
      return { status: 200, body: await this.archive.one(DEFAULT_NAMESPACE, id) };
    }
    if (last === 'cancel') {
      const { hasEnded, json } = await this.operations.cancel(DEFAULT_NAMESPACE, id, BY);
      return { status: hasEnded ? 200 : 202, body: json };
    }
    if (id !== undefined) return this.operate(path, body);
    const items = await this.operations.start(DEFAULT_NAMESPACE, body);
    return { status: 201, body: JSON.stringify({ items }) };
  }

  /** Pauses, resumes or revives a run, or ends one of its steps. */
  private async operate(path: string, body: unknown): Promise<Answer> {
    const { operations } = this;
    const [, , , id, operation, step, end] = path.split('/');
    const given = (body ?? {}) as { readonly fromStep?: string; readonly input?: unknown };
    if (operation === 'steps') {
      const how = { operation: end as 'complete', value: given, message: '', by: BY };
      const { json } = await operations.endStep(DEFAULT_NAMESPACE, { id, step }, how);
      return { status: 200, body: json };
    }
    const isPause = operation === 'pause';
    const { json } =
      isPause || operation === 'resume'
        ? await operations.pause(DEFAULT_NAMESPACE, id, { isPause, by: BY })
        : await operations.revive(DEFAULT_NAMESPACE, id, {
            ...given,
            operation: operation as 'retry',
            by: BY,
          });
    return { status: 200, body: json };
  }

  private async put(name: string, version: number, definition: unknown): Promise<Answer> {
    const { engine, admission } = this.parts;
    const type = 'put_workflow';
    admission.command(type);
    const text = JSON.stringify(definition);
    const given = { namespace: DEFAULT_NAMESPACE, name, version, by: BY };
    const command = { type, ...given, definition: { text, hash: text } } as const;
    const reply = await engine.execute<PutWorkflow, PutWorkflowReply>(command, (answer) => answer);
    return { status: reply.rejection === undefined ? 200 : 409, body: JSON.stringify(reply) };
  }

  private async remove(name: string, version: number): Promise<Answer> {
    const { engine, admission } = this.parts;
    const type = 'delete_workflow';
    admission.command(type);
    const command = { type, namespace: DEFAULT_NAMESPACE, name, version, by: BY } as const;
    const body = await engine.execute<DeleteWorkflow, string>(command, (reply) => {
      return JSON.stringify(reply);
    });
    return { status: 200, body };
  }
}
