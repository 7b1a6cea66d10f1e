/**
 * The load generator in a separate process. It submits tasks and reports when it is done.
 *
 * In saturation mode it keeps `inFlight` requests open until `tasks` were acknowledged. A fixed
 * rate is open loop: a task's clock starts when it was due, so a slow server cannot hide its delay.
 */
import { type Connection, openConnection, type Protocol, wallClockMs } from './connection.ts';

export interface LoadOrder {
  readonly url: string;
  readonly protocol: Protocol;
  readonly tasks: number;
  readonly batch: number;
  /** Number of requests that are open at once. */
  readonly inFlight: number;
  /** Tasks per second; 0 for as fast as possible. */
  readonly rate: number;
}

export interface LoadReport {
  readonly startedAt: number;
  readonly ackedAt: number;
  readonly cpuMs: number;
}

/**
 * At a fixed rate, tasks of the first seconds are not measured: the server still compiles its code.
 */
const WARM_UP_MS = 3000;

/** 200 bytes of JSON, like a small real task. */
const FILLER = { url: 'https://example.org/videos/0001.mp4', height: 720, tags: 'a'.repeat(100) };

function input(at: number): string {
  return JSON.stringify({ at, ...FILLER });
}

function body(batch: number): string {
  const task = `{"type":"bench","input":${input(0)}}`;
  return batch === 1 ? task : `[${Array.from({ length: batch }, () => task).join(',')}]`;
}

/** One entry per request that may be open at once. HTTP/2 connections carry several. */
function lanes(order: LoadOrder, connections: readonly Connection[]): Connection[] {
  return Array.from({ length: order.inFlight }, (_, i) => connections[i % connections.length]);
}

async function saturate(order: LoadOrder, connections: readonly Connection[]): Promise<void> {
  const text = body(order.batch);
  let left = Math.ceil(order.tasks / order.batch);
  const keepSending = async (connection: Connection): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await connection.post('/v1/tasks', text);
    }
  };
  const lanes = Array.from(
    { length: order.inFlight },
    (_, i) => connections[i % connections.length],
  );
  await Promise.all(lanes.map(keepSending));
}

/** Every millisecond sends the tasks that have become due, each with its due time. */
async function atRate(order: LoadOrder, connections: readonly Connection[]): Promise<void> {
  const start = wallClockMs() + 20;
  const idle = lanes(order, connections);
  const due: number[] = [];
  let sent = 0;
  let answered = 0;
  await new Promise<void>((resolve) => {
    const send = (connection: Connection, dueAt: number): void => {
      const text = `{"type":"bench","input":${input(dueAt < start + WARM_UP_MS ? 0 : dueAt)}}`;
      void connection.post('/v1/tasks', text).then(() => {
        answered += 1;
        const next = due.shift();
        if (next !== undefined) send(connection, next);
        else idle.push(connection);
        if (answered === order.tasks) resolve();
      });
    };
    const tick = (): void => {
      for (; sent < order.tasks; sent++) {
        const dueAt = start + (sent * 1000) / order.rate;
        if (dueAt > wallClockMs()) break;
        const connection = idle.pop();
        if (connection === undefined) due.push(dueAt);
        else send(connection, dueAt);
      }
      if (sent < order.tasks) setTimeout(tick, 0);
    };
    tick();
  });
}

process.once('message', async (order: LoadOrder) => {
  const count = order.protocol === 'h2c' ? Math.min(order.inFlight, 4) : order.inFlight;
  const connections = Array.from({ length: count }, () =>
    openConnection(order.protocol, order.url),
  );
  const startedAt = wallClockMs();
  const cpu = process.cpuUsage();
  if (order.rate === 0) await saturate(order, connections);
  else await atRate(order, connections);
  const { user, system } = process.cpuUsage(cpu);
  const report: LoadReport = { startedAt, ackedAt: wallClockMs(), cpuMs: (user + system) / 1000 };
  process.send?.(report);
  for (const connection of connections) connection.close();
  process.disconnect();
});
