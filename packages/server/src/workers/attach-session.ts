import type { AttachSession, DisconnectSession, SessionId, SessionRead } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import type { WorkerStream } from './worker-stream.ts';
import type { WorkerStreams } from './worker-streams.ts';

/** Heartbeats per lease: two may be missed before the third is due. */
const HEARTBEATS_PER_LEASE = 3;

/** Gives the session its stream in the same turn in which the core learns of the session. */
export async function attachSession(
  engine: Engine,
  streams: WorkerStreams,
  command: Omit<AttachSession, 'now'>,
  openStream: () => WorkerStream,
): Promise<void> {
  let stream: WorkerStream | undefined;
  const attached = engine.execute<AttachSession, void>(command, (result, state) => {
    const { rejection, session, connection, resumed, lost } = result;
    if (rejection === 'session_not_found') {
      throw new SluiceError('session_not_found', 'no such worker session; open a new one');
    }
    if (rejection === 'resume_outdated') {
      throw new SluiceError(
        'resume_outdated',
        'a later resume of this session has already arrived',
      );
    }
    if (rejection === 'quota_exceeded') {
      throw quotaExceeded('sessionsMax', state.limits.quotas?.sessionsMax);
    }
    if (rejection !== undefined) throw overloaded('too many workers are connected');
    stream = openStream();
    streams.bind(session, stream, { worker: command.worker, resumed });
    const heartbeatMs = Math.floor(command.leaseMs / HEARTBEATS_PER_LEASE);
    const { leaseMs } = command;
    const { pingMs } = streams;
    const welcome = { sessionId: session, heartbeatMs, leaseMs, pingMs, resumed, lost };
    stream.stageEvent('welcome', welcome);
    streams.markStaged(stream);
    disconnectOnClose(engine, streams, { session, connection, stream });
    tellWhatWasRead(engine, { session, connection, stream }, state.limits.unsentBytesMax);
  });
  try {
    await attached;
  } catch (cause) {
    // Once there is a stream, ending it is the only possible answer.
    if (stream === undefined) throw cause;
    stream.end();
  }
}

interface Bound {
  readonly session: SessionId;
  readonly connection: number;
  readonly stream: WorkerStream;
}

/**
 * Maximum number of `session_read` commands while one full limit of unsent bytes is sent. Small
 * pushes are counted together, so that the core is not told of each.
 */
const READS_TOLD_MIN = 16;

function tellWhatWasRead(
  engine: Engine,
  { session, connection, stream }: Bound,
  unsentBytesMax: number,
): void {
  let bytes = 0;
  stream.onSent = (cost) => {
    bytes += cost;
    if (bytes < unsentBytesMax / READS_TOLD_MIN) return;
    const command = { type: 'session_read', session, connection, bytes } as const;
    bytes = 0;
    // A stopped engine pushes nothing more.
    engine.execute<SessionRead, void>(command, () => undefined).catch(() => undefined);
  };
}

function disconnectOnClose(engine: Engine, streams: WorkerStreams, bound: Bound): void {
  const { session, connection, stream } = bound;
  stream.onClose(() => {
    streams.unbind(session, stream);
    const command = { type: 'disconnect_session', session, connection } as const;
    // A stopped engine has no roster to update.
    engine.execute<DisconnectSession, void>(command, () => undefined).catch(() => undefined);
  });
}
