import { describe, expect, test } from 'vitest';
import { ScriptedHttp, type ScriptedStream } from '../testing/scripted-http.ts';
import { VirtualTime } from '../testing/virtual-time.ts';
import { FollowedStream, type FollowOptions } from './followed-stream.ts';

type Item = { readonly n: number };

/** A followed stream whose network and clock the test controls. */
class Followed {
  readonly time = new VirtualTime();
  readonly http = new ScriptedHttp();
  readonly stream: FollowedStream<Item>;
  /** Closes the client. */
  closeClient: (cause: Error) => void = () => undefined;
  begun = 0;

  constructor(options: Partial<FollowOptions<Item>> = {}) {
    const { time, http } = this;
    this.stream = new FollowedStream<Item>({
      ports: {
        now: () => time.now(),
        startTimer: (delayMs, run) => time.startTimer(delayMs, run),
        atEndOfTurn: (run) => time.atEndOfTurn(run),
        openStream: (request, listener) => http.openStream(request, listener),
        random: () => 0.5,
      },
      addresses: ['http://a', 'http://b'],
      path: '/v1/events',
      giveUpAfterMs: 1000,
      hasIds: true,
      begin: () => {
        this.begun += 1;
      },
      read: ({ name, data }) => (name === 'end' ? 'end' : [JSON.parse(data) as Item]),
      onClose: (fail) => {
        this.closeClient = fail;
        return () => undefined;
      },
      ...options,
    });
  }

  /** The newest connection. */
  get last(): ScriptedStream {
    return this.http.streams.at(-1) as ScriptedStream;
  }

  send(n: number, id?: string): void {
    const idLine = id === undefined ? '' : `id: ${id}\n`;
    this.last.bytes(`event: change\n${idLine}data: {"n":${n}}\n\n`);
  }

  /** Waits until the next connection is opened. */
  reconnect(): void {
    const before = this.http.streams.length;
    while (this.http.streams.length === before && this.time.fireNext());
  }

  async take(count: number): Promise<number[]> {
    const taken: number[] = [];
    const items = this.stream[Symbol.asyncIterator]();
    while (taken.length < count) {
      const { value, done } = await items.next();
      if (done) break;
      taken.push((value as Item).n);
    }
    return taken;
  }
}

async function rest(stream: FollowedStream<Item>): Promise<number[]> {
  const items: number[] = [];
  for await (const { n } of stream) items.push(n);
  return items;
}

describe('a lost connection', () => {
  test.each<[string, (followed: Followed) => void]>([
    ['ends', ({ last }) => last.end()],
    ['is drained', ({ last }) => last.push('drain', {})],
    ['is silent', ({ time }) => time.advance(15_000)],
    ['is refused for a while', ({ last }) => last.refuse(503, 'unavailable')],
  ])('that %s is opened again elsewhere, after the last id', async (_, lose) => {
    const followed = new Followed();
    followed.last.open();
    followed.send(1, 'x-1');
    followed.send(2);

    lose(followed);
    if (followed.http.streams.length === 1) followed.reconnect();
    followed.last.open();
    followed.send(2, 'x-2');

    expect(await followed.take(3)).toEqual([1, 2, 2]);
    const [first, second] = followed.http.streams;
    expect([first.address, first.lastEventId]).toEqual([0, undefined]);
    expect([second.address, second.lastEventId]).toEqual([1, 'x-1']);
    expect(followed.begun).toBe(2);
  });

  test('the id of a frame without data counts, and events of the old one do not', async () => {
    const followed = new Followed();
    const first = followed.last;
    first.open();
    first.bytes('id: x-7\n\nevent: ping\ndata: {}\n\n');
    first.end();
    followed.reconnect();

    first.bytes('event: change\ndata: {"n":9}\n\n');
    followed.send(1);

    expect(followed.last.lastEventId).toBe('x-7');
    expect(await followed.take(1)).toEqual([1]);
  });

  test('without any id is no reason to lose changes silently', () => {
    const followed = new Followed();
    followed.last.open();
    followed.last.end();
    followed.reconnect();

    // The server answers with a gap.
    expect(followed.last.lastEventId).toBe('0');
  });

  test('is tried for any time once it was open, and for a while before that', async () => {
    const open = new Followed();
    open.last.open();
    const never = new Followed();
    for (let round = 0; round < 100; round++) {
      open.last.end();
      open.reconnect();
      never.last.end();
      never.reconnect();
    }

    expect(open.http.streams).toHaveLength(101);
    await expect(never.stream.opened).rejects.toMatchObject({ code: 'no_answer' });
    await expect(rest(never.stream)).rejects.toThrow('no answer in time from http://a, http://b');
  });
});

test('a refusal ends the loop, after what arrived before it', async () => {
  const followed = new Followed({ after: 'x-1' });
  followed.last.open();
  followed.send(1, 'x-2');
  followed.last.end();
  followed.reconnect();
  followed.last.refuse(401, 'unauthenticated');

  expect(followed.http.streams[0].lastEventId).toBe('x-1');
  expect(await followed.take(1)).toEqual([1]);
  await expect(followed.take(1)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('the end of the stream ends the loop, and so do the reader and the client', async () => {
  const ended = new Followed({ hasIds: false });
  ended.send(1);
  ended.last.push('end', {});
  const left = new Followed();
  left.send(1);
  for await (const { n } of left.stream) if (n === 1) break;
  const closed = new Followed();
  closed.stream.close();
  const clientClosed = new Followed();
  const waiting = rest(clientClosed.stream);
  clientClosed.closeClient(new Error('the client was closed'));

  expect(await rest(ended.stream)).toEqual([1]);
  expect(await rest(closed.stream)).toEqual([]);
  await expect(waiting).rejects.toThrow('the client was closed');
  for (const followed of [ended, left, closed, clientClosed]) {
    expect(followed.last.isClosed).toBe(true);
    expect(followed.time.pending).toBe(0);
  }
});

test('a signal ends it with its reason, before and while it is followed', async () => {
  const controller = new AbortController();
  const followed = new Followed({ signal: controller.signal });
  const waiting = rest(followed.stream);
  controller.abort(new Error('enough'));
  const late = new Followed({ signal: controller.signal });

  await expect(waiting).rejects.toThrow('enough');
  await expect(rest(late.stream)).rejects.toThrow('enough');
  expect(late.http.streams).toEqual([]);
});

test('what is no event of Sluice is an error', async () => {
  const followed = new Followed();
  followed.last.bytes('event: change\ndata: <html>\n\n');

  await expect(rest(followed.stream)).rejects.toThrow('not from a Sluice server');
});

test('a slow reader leaves the rest at the server, and then gets it', async () => {
  const followed = new Followed();
  followed.last.open();
  const events = Array.from({ length: 10_005 }, (_, n) => {
    return `event: change\nid: x-${n + 1}\ndata: {"n":${n + 1}}\n\n`;
  });
  followed.last.bytes(events.join(''));
  const isCut = followed.last.isClosed;

  const taken = await followed.take(10_000);
  const coming = followed.take(1);
  followed.send(10_001, 'x-10001');

  expect(isCut).toBe(true);
  expect(taken).toHaveLength(10_000);
  expect(followed.last.lastEventId).toBe('x-10000');
  expect(await coming).toEqual([10_001]);
});
