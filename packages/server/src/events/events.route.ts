import { parseRunId, parseTaskId, queueKey } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { EventQuery, ROUTES, SluiceError } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import type { KeyStreams } from '../access/key-streams.ts';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { type Admission, overloaded } from '../limits/admission.ts';
import type { ChangeQuery } from '../projection/change-ring.ts';
import type { Projection } from '../projection/projection.ts';
import type { RunArchive } from '../runs/run-archive.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import { ChangeFollowers } from './change-followers.ts';
import { EventFollowers } from './event-followers.ts';
import type { LogStarts } from './log-starts.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly projection: Projection;
  readonly archive: TaskArchive;
  readonly runs: Pick<RunArchive, 'one'>;
  readonly starts: LogStarts;
  readonly keyStreams: KeyStreams;
  readonly stalledMs: number;
}

const FOLLOWERS_MAX = 1000;

/** `GET /v1/changes`: one stream for all that a page shows. */
function changesRoute(app: FastifyInstance, parts: Parts, followers: ChangeFollowers): void {
  app.addHook('preClose', async () => followers.stop());
  app.route({
    ...routeOptions(ROUTES.followChanges),
    handler: async (request, reply) => {
      if (request.method === 'HEAD') return reply.type('text/event-stream').send();
      parts.admission.read();
      if (followers.count >= FOLLOWERS_MAX) throw overloaded('too many requests follow changes');
      parts.keyStreams.add(request.caller, reply.raw);
      return followers.follow(reply);
    },
  });
}

export function eventsRoute(app: FastifyInstance, parts: Parts): void {
  const { admission, archive, runs } = parts;
  const query = new Checker(EventQuery);
  const followers = new EventFollowers(parts);
  app.addHook('preClose', async () => followers.stop());
  changesRoute(app, parts, new ChangeFollowers(parts));
  app.route({
    ...routeOptions(ROUTES.followEvents),
    handler: async (request, reply) => {
      const { task, run, type } = parseQuery(query, request.query);
      // A HEAD request has no stream to wait for.
      if (request.method === 'HEAD') return reply.type('text/event-stream').send();
      const { namespace } = request.caller;
      const wanted: ChangeQuery = {
        namespace,
        start: parts.starts.current,
        ...placeIn(request.headers['last-event-id'], parts),
        ...(task === undefined ? {} : { task: parseTaskId(task)?.number ?? 0 }),
        ...(run === undefined ? {} : { run: parseRunId(run)?.number ?? 0 }),
        ...(type === undefined ? {} : { queue: queueKey(namespace, type) }),
      };
      admission.read();
      if (task !== undefined) await archive.mustHave(namespace, task);
      if (run !== undefined) await runs.one(namespace, run);
      if (followers.count >= FOLLOWERS_MAX) throw overloaded('too many requests follow events');
      parts.keyStreams.add(request.caller, reply.raw);
      return followers.follow(wanted, reply);
    },
  });
}

/** Without an id a stream begins now. */
function placeIn(
  lastEventId: string | string[] | undefined,
  { engine, starts }: Parts,
): Pick<ChangeQuery, 'after' | 'isLost'> {
  const { position } = engine;
  if (lastEventId === undefined || lastEventId === '') return { after: position - 1 };
  const place = starts.placeOf(String(lastEventId), position);
  if (place === 'lost') return { after: position - 1, isLost: true };
  if (place !== 'malformed') return place;
  throw new SluiceError('invalid_request', 'Last-Event-ID is not the id of an event');
}
