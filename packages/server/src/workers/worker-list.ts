import type { Author, DrainSession, PartitionReader, SessionId, SessionView } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';
import { type PageRequest, placedPage } from '../answers/pages.ts';
import { timeText } from '../base/time-text.ts';
import type { Admission } from '../limits/admission.ts';
import { workerIdOf } from './worker-id.ts';
import type { WorkerStreams } from './worker-streams.ts';

interface Worker {
  readonly id: string;
  readonly session: SessionView;
  readonly place: string;
}

/** Workers as users see them. */
export class WorkerList {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly streams: WorkerStreams;
  /** Ids of sessions that were shown; hashing costs more than a lookup. */
  private ids = new Map<SessionId, string>();

  constructor(engine: Engine, admission: Admission, streams: WorkerStreams) {
    this.engine = engine;
    this.admission = admission;
    this.streams = streams;
  }

  /** A page ordered by the names of the workers, as JSON text. */
  list(namespace: string, page: PageRequest): Promise<string> {
    this.admission.read();
    return this.engine.read(({ now }, partition) => {
      const show = ({ id, session }: Worker) => this.viewOf(id, session);
      return placedPage(this.workers(partition, namespace), page, { show, now });
    });
  }

  /** The worker keeps its tasks and gets no more. */
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
      return this.viewOf(id, worker.session);
    });
  }

  private viewOf(id: string, session: SessionView): object {
    const { worker, version, types, labels, capacity, used } = session;
    const { leaseMs, connected, draining, heardAt } = session;
    const measured = this.streams.measuredBy(session.id);
    return {
      id,
      name: worker,
      version,
      types,
      labels,
      capacity,
      used,
      ...(measured === undefined ? {} : { measured: { ...measured, at: timeText(measured.at) } }),
      leaseMs,
      connected,
      draining,
      heardAt: timeText(heardAt),
    };
  }

  private workers(partition: PartitionReader, namespace: string): Worker[] {
    const all = partition.sessions();
    // Ended sessions are dropped with the old map.
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

function notFound(id: string): SluiceError {
  return new SluiceError('worker_not_found', `no worker '${id}'; see GET /v1/workers`);
}
