import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FollowerStream } from './follower-stream.ts';

/** A reader that reads nothing until it drains. */
class Reader extends EventEmitter {
  readonly written: string[] = [];
  isDestroyed = false;

  writeHead(): void {}

  flushHeaders(): void {}

  write(text: string): boolean {
    this.written.push(text);
    return false;
  }

  destroy(): void {
    this.isDestroyed = true;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the next event waits until the one before was taken, and a slow reader stays', async () => {
  const reader = new Reader();
  const stream = new FollowerStream(reader as unknown as ServerResponse, 1000);
  const sending = (async () => {
    for (const n of [1, 2, 3]) await stream.send('lines', n);
  })();
  for (const count of [1, 2, 3]) {
    await vi.advanceTimersByTimeAsync(900);
    expect(reader.written.length).toBe(count);
    reader.emit('drain');
  }
  await sending;

  expect(reader.isDestroyed).toBe(false);
});

test('a reader that takes nothing for long is cut, and nobody waits for him', async () => {
  const reader = new Reader();
  const stream = new FollowerStream(reader as unknown as ServerResponse, 1000);
  const sending = stream.send('lines', 1);

  await vi.advanceTimersByTimeAsync(1000);
  await sending;
  await stream.send('lines', 2);

  expect(reader.isDestroyed).toBe(true);
  expect(stream.signal.aborted).toBe(true);
  expect(reader.written.length).toBe(1);
});
