import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from './caller.ts';
import { KeyStreams } from './key-streams.ts';

class TestStream extends EventEmitter {
  isCut = false;

  destroy(): void {
    this.isCut = true;
    this.emit('close');
  }
}

const live = new Set<string>();
let streams: KeyStreams;

beforeEach(() => {
  live.clear();
  streams = new KeyStreams({ isLive: (id) => live.has(id) });
});

afterEach(() => streams.stop());

function open(actor: string): TestStream {
  const stream = new TestStream();
  const caller: Caller = { actor, namespace: 'default', roles: ['worker'] };
  live.add(actor);
  streams.add(caller, stream);
  return stream;
}

test('the streams of a key that ended are cut, all of them and no others', () => {
  const [first, second, other] = [open('k_1'), open('k_1'), open('k_2')];
  live.delete('k_1');

  streams.cutDead();

  expect([first, second, other].map(({ isCut }) => isCut)).toEqual([true, true, false]);
});

test('a stream that is over is forgotten', () => {
  const stream = open('k_1');
  stream.emit('close');
  live.delete('k_1');

  streams.cutDead();

  expect(stream.isCut).toBe(false);
});
