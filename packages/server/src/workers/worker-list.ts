import type { Author, DrainSession, PartitionReader, SessionId, SessionView } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, SluiceError } from '@sluice/protocol';
import type { Admission } from '../admission.ts';
import { cursorText, type PageRequest, pageJson } from '../tasks/pages.ts';
import { timeText } from '../time-text.ts';
import { workerIdOf } from './worker-id.ts';

/** Workers as people see them. */
export class WorkerList {
  private readonly engine: Engine;
  private readonly admission: Admission;
  /** Of sessions that were shown; hashing costs more than looking up. */
  private ids = new Map<SessionId, string>();

  constructor(engine: Engine, admission: Admission) {
    this.engine = engine;
    this.admission = admission;
  }

  /** A page by the names of the workers, as JSON text. */
  list(namespace: string, { limit = LIMITS.pageDefault, cursor }: PageRequest): Promise<string> {
    const after = cursor === undefined ? '' : cursorText(cursor);
    this.admission.read();
    return this.engine.read((state, partition) => {
      const workers = this.workers(partition, namespace)
        .filter(({ place }) => place > after)
        .sort((a, b) => (a.place < b.place ? -1 : 1));
      const shown = workers.slice(0, limit);
      const next = workers.length > limit ? shown.at(-1)?.place : undefined;
      const items = shown.map(({ id, session }) => JSON.stringify(viewOf(id, session)));
      return pageJson(items, next, { asOf: state.now, lagMs: 0 });
    });
  }

  /** It keeps what it runs and gets nothing more. */
  async drain(namespace: string, id: string, by: Author): Promise<object> {
    const type = 'drain_session';
    this.admission.command(type);
    const session = await this.engine.read((_state, partition) => {
      return this.workers(partition, namespace).find((worker) => worker.id === id)?.session.id;
    });
    if (session === undefined) throw notFound(id);
    const command = { type, namespace, session, by } as const;
    return this.engine.execute<DrainSession, object>(command, ({ found }, _state, partition) => {
      const worker = this.workers(partition, namespace).find((each) => each.id === id);
      if (!found || worker === undefined) throw notFound(id);
      return viewOf(id, worker.session);
    });
  }

  private workers(partition: PartitionReader, namespace: string) {
    const all = partition.sessions();
    // What is gone is forgotten with the old map.
    const ids = new Map<SessionId, string>();
    for (const { id } of all) ids.set(id, this.ids.get(id) ?? workerIdOf(id));
    this.ids = ids;
    const sessions = all.filter((session) => session.namespace === namespace);
    return sessions.map((session) => {
      const id = ids.get(session.id) ?? '';
      return { id, session, place: `${session.worker} ${id}` };
    });
  }
}

function viewOf(id: string, session: SessionView): object {
  const { worker, version, types, labels, capacity, used } = session;
  const { leaseMs, connected, draining, heardAt } = session;
  return {
    id,
    name: worker,
    version,
    types,
    labels,
    capacity,
    used,
    leaseMs,
    connected,
    draining,
    heardAt: timeText(heardAt),
  };
}

function notFound(id: string): SluiceError {
  return new SluiceError('worker_not_found', `no worker '${id}'; see GET /v1/workers`);
}
