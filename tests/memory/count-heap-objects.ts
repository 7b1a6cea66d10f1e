/**
 * Starts a server in this process, counts the objects on the heap, submits a million tasks over
 * HTTP, and counts again. With `--plant` it leaks one object per 10 tasks.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getHeapSnapshot } from 'node:v8';
import { Server } from '@sluice/server';
import { connectHttp } from '../support/http-client.ts';

const TASKS = 1_000_000;
const BATCH = 1000;
const PLANTED = TASKS / 10;

/** The first lines of the snapshot have the number of objects. The rest is discarded. */
async function countObjects(): Promise<number> {
  const snapshot = getHeapSnapshot();
  let head = '';
  let count: number | undefined;
  for await (const chunk of snapshot) {
    if (count !== undefined) continue;
    head += String(chunk);
    const match = /"node_count":(\d+)/.exec(head);
    if (match !== null) count = Number(match[1]);
  }
  if (count === undefined) throw new Error('the heap snapshot has no count of objects');
  return count;
}

const folder = await mkdtemp(join(tmpdir(), 'sluice-heap-'));
const server = await Server.start({
  host: '127.0.0.1',
  port: 0,
  dataFolder: folder,
  version: 'test',
  onFatal: (cause) => {
    throw cause;
  },
});
const http = connectHttp('http1', server.url);
const tasks = Array.from({ length: BATCH }, (_, index) => ({
  type: 'hello',
  priority: index % 9,
  input: { index, text: 'a'.repeat(100) },
}));

async function submit(): Promise<void> {
  const { status } = await http.send({ method: 'POST', path: '/v1/tasks', body: tasks });
  if (status !== 201) throw new Error(`a submit was answered with ${status}`);
}

// Warm-up: the first requests compile code, which leaves objects on the heap.
for (let i = 0; i < 20; i++) await submit();
const before = await countObjects();
for (let sent = 0; sent < TASKS; sent += BATCH) await submit();
const planted = process.argv.includes('--plant') ? Array.from({ length: PLANTED }, makeObject) : [];
const after = await countObjects();

function makeObject(_: unknown, index: number): object {
  return { index };
}

console.log(JSON.stringify({ tasks: TASKS, planted: planted.length, before, after }));
http.close();
await server.close();
await rm(folder, { recursive: true });
