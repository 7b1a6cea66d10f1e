import type { AttachSession, SessionId } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { expect, test } from 'vitest';
import { attachSession } from './attach-session.ts';
import { type StreamSink, WorkerStream } from './worker-stream.ts';
import { WorkerStreams } from './worker-streams.ts';

/** A connection that sends everything as soon as it is written. */
function openSink(): StreamSink {
  const sink = {
    headersSent: false,
    writableEnded: false,
    writeHead: () => {
      sink.headersSent = true;
    },
    write: (_bytes: Buffer, written: () => void) => written(),
    end: () => undefined,
    destroy: () => undefined,
    on: () => undefined,
    once: () => undefined,
  };
  return sink;
}

/** Attaches a worker, pushes this many bytes to it, and returns how many the engine was told of. */
async function bytesTold(unsentBytesMax: number, pushed: number): Promise<number> {
  let told = 0;
  const reply = { session: 's_1' as SessionId, connection: 1, resumed: false, lost: [] };
  const execute = async (
    request: { readonly type: string; readonly bytes?: number },
    render: (reply: unknown, state: unknown) => void,
  ) => {
    if (request.type === 'session_read') told += request.bytes ?? 0;
    else render(reply, { limits: { unsentBytesMax } });
  };
  const engine = { execute } as unknown as Engine;
  const command = { type: 'attach_session', leaseMs: 15_000 } as AttachSession;
  const stream = new WorkerStream(openSink(), () => 0);
  await attachSession(engine, new WorkerStreams(), command, () => stream);
  for (let i = 0; i < pushed; i++) stream.send({ bytes: Buffer.of(0), cost: 1 });
  return told;
}

test('a worker that has read all but a small part of its bound gets more', async () => {
  const told = await bytesTold(1000, 900);
  expect(900 - told).toBeLessThan(250);
});

test('small reads are told together', async () => {
  expect(await bytesTold(2 ** 24, 100_000)).toBe(0);
});
