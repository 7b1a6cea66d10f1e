/** The thread behind a `SyncSession`. It ends when the other side closes the port. */
import { workerData } from 'node:worker_threads';
import { DatabaseError } from 'pg';
import { SessionPool } from './session-pool.ts';
import type { SyncAnswer, SyncQuestion, SyncThreadData } from './sync-session.ts';

const { address, port, answered } = workerData as SyncThreadData;
const pool = new SessionPool({ address, sessionsMax: 2 });

port.on('message', async (question: SyncQuestion) => {
  port.postMessage(await answer(question));
  Atomics.add(answered, 0, 1);
  Atomics.notify(answered, 0);
});
port.once('close', () => pool.close());

async function answer({ id, text, values }: SyncQuestion): Promise<SyncAnswer> {
  try {
    const { rows, count } = await pool.run((session) => session.query(text, values.map(asSent)));
    return { id, rows: rows.map((row) => ({ ...row })), count };
  } catch (cause) {
    const { message } = cause as Error;
    return { id, code: cause instanceof DatabaseError ? cause.code : undefined, why: message };
  }
}

/** A buffer arrives as a plain array of bytes, which the driver would send as text. */
function asSent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asSent);
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.length)
    : value;
}
