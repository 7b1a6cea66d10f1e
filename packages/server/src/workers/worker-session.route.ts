import { randomBytes } from 'node:crypto';
import {
  type AttachSession,
  DEFAULT_NAMESPACE,
  type DetachSession,
  type DisconnectSession,
  type SessionId,
  type SessionRead,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type ErrorDetail,
  LIMITS,
  ROUTES,
  type SessionParams,
  SluiceError,
  WorkerSessionRequest,
} from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { type Admission, overloaded } from '../admission.ts';
import { routeOptions } from '../http/route-options.ts';
import { Checker, invalid } from '../http/validation.ts';
import { readJsonBody } from '../http/whole-body.ts';
import { checkLabels, checkResources } from '../resource-checks.ts';
import { WorkerStream } from './worker-stream.ts';
import type { WorkerStreams } from './worker-streams.ts';

/** Heartbeats per lease: two may be missed before the third is due. */
const HEARTBEATS_PER_LEASE = 3;

export function workerSessionRoutes(
  app: FastifyInstance,
  engine: Engine,
  admission: Admission,
  streams: WorkerStreams,
): void {
  const sessionRequest = new Checker(WorkerSessionRequest);

  app.route({
    ...routeOptions(ROUTES.openWorkerSession),
    handler: async (request, reply) => {
      const body = await readJsonBody(request.raw);
      const command = attachCommand(sessionRequest.parse(body, 'the worker session is not valid'));
      admission.command(command.type);
      await attach(engine, streams, command, () => {
        reply.hijack();
        return new WorkerStream(reply.raw);
      });
    },
  });

  app.route<{ Params: SessionParams }>({
    ...routeOptions(ROUTES.closeWorkerSession),
    handler: async (request, reply) => {
      const session = request.params.sessionId as SessionId;
      const command = { type: 'detach_session', namespace: DEFAULT_NAMESPACE, session } as const;
      admission.command(command.type);
      const { found } = await engine.execute<DetachSession, { found: boolean }>(
        command,
        (result) => result,
      );
      if (!found) throw new SluiceError('session_not_found', 'no such worker session');
      return reply.code(204).send();
    },
  });
}

/** Gives the session its stream in the same turn in which the core learns of it. */
async function attach(
  engine: Engine,
  streams: WorkerStreams,
  command: Omit<AttachSession, 'now'>,
  openStream: () => WorkerStream,
): Promise<void> {
  let stream: WorkerStream | undefined;
  const attached = engine.execute<AttachSession, void>(command, (result) => {
    const { rejection, session, connection, resumed, lost } = result;
    if (rejection === 'session_not_found') {
      throw new SluiceError('session_not_found', 'no such worker session; open a new one');
    }
    if (rejection !== undefined) throw overloaded('too many workers are connected');
    stream = openStream();
    streams.bind(session, stream);
    const heartbeatMs = Math.floor(command.leaseMs / HEARTBEATS_PER_LEASE);
    const welcome = { sessionId: session, heartbeatMs, leaseMs: command.leaseMs, resumed, lost };
    stream.stageEvent('welcome', welcome);
    streams.markStaged(stream);
    disconnectOnClose(engine, streams, { session, connection, stream });
    tellWhatWasRead(engine, { session, connection, stream });
  });
  try {
    await attached;
  } catch (cause) {
    // Once there is a stream, its end is the only answer left.
    if (stream === undefined) throw cause;
    stream.end();
  }
}

interface Bound {
  readonly session: SessionId;
  readonly connection: number;
  readonly stream: WorkerStream;
}

/** Small pushes are counted together: the core need not hear of each. */
const READ_BYTES_TOLD = 1024 * 1024;

function tellWhatWasRead(engine: Engine, { session, connection, stream }: Bound): void {
  let bytes = 0;
  stream.onSent = (cost) => {
    bytes += cost;
    if (bytes < READ_BYTES_TOLD) return;
    const command = { type: 'session_read', session, connection, bytes } as const;
    bytes = 0;
    // A stopped engine gives nobody anything.
    engine.execute<SessionRead, void>(command, () => undefined).catch(() => undefined);
  };
}

function disconnectOnClose(engine: Engine, streams: WorkerStreams, bound: Bound): void {
  const { session, connection, stream } = bound;
  stream.onClose(() => {
    streams.unbind(session, stream);
    const command = { type: 'disconnect_session', session, connection } as const;
    // A stopped engine has no roster that could be told.
    engine.execute<DisconnectSession, void>(command, () => undefined).catch(() => undefined);
  });
}

function attachCommand(body: WorkerSessionRequest): Omit<AttachSession, 'now'> {
  const { types, capacity = {}, labels = {}, resume } = body;
  const problems: ErrorDetail[] = [];
  const names = types.map(({ type }) => type);
  const twice = names.findIndex((type, index) => names.indexOf(type) !== index);
  if (twice >= 0) {
    problems.push({ path: `/types/${twice}/type`, problem: `'${names[twice]}' is listed twice` });
  }
  checkResources(capacity, '/capacity', problems);
  checkLabels(labels, '/labels', problems);
  if (problems.length > 0) throw invalid('the worker session is not valid', problems);
  return {
    type: 'attach_session',
    namespace: DEFAULT_NAMESPACE,
    newSession: `s_${randomBytes(18).toString('base64url')}` as SessionId,
    // The log holds UTF-8, which has no lone surrogates.
    worker: body.name.toWellFormed(),
    version: body.version ?? '',
    types,
    capacity: { slots: LIMITS.slotsDefault, ...capacity },
    labels: new Map(Object.entries(labels)),
    leaseMs: body.leaseMs ?? LIMITS.leaseMsDefault,
    ...(resume === undefined
      ? {}
      : { resume: { session: resume.sessionId as SessionId, running: resume.running } }),
  };
}
