import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { SuccessorWatch, type SuccessorWatchOptions } from './successor-watch.ts';

const EPOCH = 7;
const WAIT = { timeout: 30_000 };

const opened: Server[] = [];
let watch: SuccessorWatch;

afterEach(() => {
  watch.stop();
  for (const server of opened.splice(0)) server.close();
});

interface Other {
  readonly address: string;
  readonly runId: string;
  asked: number;
}

/** A server that says this of itself. */
async function serverThatSays(role: object): Promise<Other> {
  const server = createServer((_, answer) => {
    other.asked += 1;
    answer.end(JSON.stringify({ runId: 'other', ...role }));
  }).listen(0, '127.0.0.1');
  opened.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const other: Other = { address: `http://127.0.0.1:${port}`, runId: 'other', asked: 0 };
  return other;
}

function watchFor(others: readonly Other[], more: Partial<SuccessorWatchOptions> = {}) {
  const onFound = vi.fn();
  watch = new SuccessorWatch({
    epoch: EPOCH,
    isInDoubt: () => true,
    others: () => others,
    onFound,
    ...more,
  });
  return onFound;
}

test('an owner in doubt finds the server that took over', async () => {
  const gone = { address: 'http://127.0.0.1:1', runId: 'gone', asked: 0 };
  const follower = await serverThatSays({ role: 'standby' });
  const next = await serverThatSays({ role: 'owner', epoch: EPOCH + 1 });

  const onFound = watchFor([gone, follower, next]);

  await vi.waitFor(() => expect(onFound).toHaveBeenCalled(), WAIT);
  expect(onFound).toHaveBeenCalledWith({ url: next.address, runId: 'other' });
});

test.each([
  ['a standby', { role: 'standby' }],
  ['an owner that was replaced before', { role: 'owner', epoch: EPOCH - 1 }],
  ['an owner of a version that says no epoch', { role: 'owner' }],
])('%s is no successor', async (_, role) => {
  const other = await serverThatSays(role);

  const onFound = watchFor([other]);

  await vi.waitFor(() => expect(other.asked).toBeGreaterThan(1), WAIT);
  expect(onFound).not.toHaveBeenCalled();
});

test('an owner that the database confirms asks nobody', async () => {
  const next = await serverThatSays({ role: 'owner', epoch: EPOCH + 1 });
  const isInDoubt = vi.fn(() => false);

  const onFound = watchFor([next], { isInDoubt });

  await vi.waitFor(() => expect(isInDoubt.mock.calls.length).toBeGreaterThan(1), WAIT);
  expect(next.asked).toBe(0);
  expect(onFound).not.toHaveBeenCalled();
});
