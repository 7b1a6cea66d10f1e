import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { submitTask } from './submit-task.command.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Reads a request, and answers it or closes the connection. */
async function listen(bodies: unknown[], answer?: object): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(JSON.parse(body));
    if (answer === undefined) response.destroy();
    else response.end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function submit(bodies: unknown[], ...flags: string[]): Promise<unknown> {
  const url = [
    await listen(bodies),
    await listen(bodies, { id: 't_1', state: 'queued', deduplicated: true }),
  ].join(',');
  const printed: string[] = [];
  const io = {
    stdout: (line: string) => void printed.push(line),
    env: {},
    stop: new AbortController().signal,
  } as unknown as CommandIo;

  const code = await submitTask.run(['hello', '--json', '--url', url, ...flags], io);

  expect(code).toBe(ExitCode.done);
  return JSON.parse(printed.join('\n'));
}

test('a submit that is sent again carries the same key, of which nobody hears', async () => {
  const bodies: unknown[] = [];

  const printed = await submit(bodies);

  expect(bodies).toHaveLength(2);
  expect(bodies[0]).toMatchObject({ dedupeKey: expect.stringMatching(/^cli\.[0-9a-f-]{36}$/) });
  expect(bodies[1]).toEqual(bodies[0]);
  expect(printed).toEqual({ id: 't_1', state: 'queued' });
});

test('each submit has a key of its own', async () => {
  const bodies: { dedupeKey?: string }[] = [];

  await submit(bodies);
  await submit(bodies);

  expect(new Set(bodies.map(({ dedupeKey }) => dedupeKey)).size).toBe(2);
});

test('with a key of the user, he hears whether the task was there', async () => {
  const bodies: unknown[] = [];

  const printed = await submit(bodies, '--dedupe-key', 'mine');

  expect(bodies[0]).toEqual({ type: 'hello', dedupeKey: 'mine' });
  expect(printed).toEqual({ id: 't_1', state: 'queued', deduplicated: true });
});
