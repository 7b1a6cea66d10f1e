import { afterEach, beforeEach, expect, test } from 'vitest';
import { arm, KilledServers, submit, Worker } from './kill-point-fixture.ts';

let servers: KilledServers;
beforeEach(async () => {
  servers = await KilledServers.create();
});
afterEach(() => servers.dispose());

test('server killed between the resume of an idle session and its welcome', async () => {
  const first = await servers.start();
  const idle = new Worker(first.http);
  const { sessionId } = await idle.welcome();
  await first.server.kill();
  await idle.closed;
  const second = await servers.startDying();
  const id = await submit(second.http, 'a');
  await arm(second.server);

  const unwelcome = new Worker(second.http, { sessionId, running: [] });
  expect(await second.server.exited()).toBe('SIGKILL');
  await unwelcome.closed;
  expect(unwelcome.welcomes).toEqual([]);
  const third = await servers.start();
  const resumed = new Worker(third.http, { sessionId, running: [] });
  await resumed.welcome();

  // The first push of `a` never arrived, so `a` is queued before any later task.
  await submit(third.http, 'b');
  const [task] = await resumed.pushes();
  expect(task).toMatchObject({ id, attempt: 1, input: 'a' });
});
