import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServerProcess } from '../../path/server-process.ts';
import type { Row } from '../../row.ts';

const TASKS = 20_000;
const BATCH = 1000;

/** Tasks that all end at once, each with a callback to one receiver in this process. */
export const row: Row = {
  measure: async ({ share }) => {
    const count = Math.max(BATCH, TASKS * share);
    const receiver = await Receiver.start(count);
    const server = await ServerProcess.start();
    const ids = await submit(server.url, receiver.url, count);
    const cpuBefore = await server.cpuMs();
    const startedAt = performance.now();
    for (let at = 0; at < ids.length; at += BATCH) {
      await post(`${server.url}/v1/tasks/cancel`, { ids: ids.slice(at, at + BATCH) });
    }
    await receiver.done;
    const seconds = (performance.now() - startedAt) / 1000;
    const cpuMs = (await server.cpuMs()) - cpuBefore;
    await server.stop();
    receiver.close();
    return [
      { what: 'callbacks to one receiver', unit: 'callbacks/s', value: count / seconds },
      { what: 'CPU of the server', unit: 'µs', value: (1000 * cpuMs) / count },
    ];
  },
};

/** A receiver that answers immediately. */
class Receiver {
  readonly done: Promise<void>;
  private readonly server;
  private heard = 0;

  private constructor(count: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.done = promise;
    this.server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        response.end();
        this.heard += 1;
        if (this.heard === count) resolve();
      });
    });
  }

  static async start(count: number): Promise<Receiver> {
    const receiver = new Receiver(count);
    receiver.server.listen(0, '127.0.0.1');
    await once(receiver.server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.server.close();
  }
}

async function submit(url: string, receiver: string, count: number): Promise<string[]> {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const callback = { url: receiver, on: ['cancelled'], secret };
  const task = { type: 'told', delayMs: 3_600_000, callback };
  const ids: string[] = [];
  for (let at = 0; at < count; at += BATCH) {
    const { items } = await post<{ items: { id: string }[] }>(
      `${url}/v1/tasks`,
      Array(Math.min(BATCH, count - at)).fill(task),
    );
    ids.push(...items.map(({ id }) => id));
  }
  return ids;
}

async function post<T>(url: string, body: unknown): Promise<T> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as T;
}
