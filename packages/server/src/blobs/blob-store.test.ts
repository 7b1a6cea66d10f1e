import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMITS } from '@sluice/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BlobFiles, type BlobKey } from './blob-files.ts';
import { BLOB_KEPT_MS, BlobStore } from './blob-store.ts';

const CHUNK = Buffer.alloc(1024 * 1024, 'x');

let folder: string;
let now: number;
let damaged: string[];
let store: BlobStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-blobs-'));
  now = Date.now();
  damaged = [];
  store = await opened();
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

function opened(reserveBytes = 0): Promise<BlobStore> {
  const onDamaged = (path: string): void => void damaged.push(path);
  return BlobStore.open({
    folder: join(folder, 'blobs'),
    clock: () => now,
    onDamaged,
    reserveBytes,
  });
}

function keyOf(text: string, namespace = 'default'): BlobKey {
  return { namespace, sha256: createHash('sha256').update(text).digest('hex') };
}

async function* bodyOf(...chunks: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    if (typeof chunk !== 'string') throw chunk;
    yield Buffer.from(chunk);
  }
}

/** Fails the test when it is read. */
function untouched(): AsyncIterable<Uint8Array> {
  return bodyOf(new Error('nobody needs this body'));
}

function put(text: string, namespace?: string): Promise<number> {
  return store.put(keyOf(text, namespace), bodyOf(text), text.length);
}

async function textOf(key: BlobKey): Promise<string | undefined> {
  const found = await store.get(key);
  if (found === undefined) return undefined;
  return Buffer.concat(await found.body.toArray()).toString();
}

/** Every file in the folder, whatever its name. */
async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function pathIn(key: BlobKey): Promise<string> {
  return join(folder, 'blobs', `@${key.namespace}`, key.sha256.slice(0, 2), key.sha256);
}

describe('an upload', () => {
  test('can be read, whatever its pieces were', async () => {
    const key = keyOf('{"a":1}');

    expect(await store.put(key, bodyOf('{"a"', ':', '1}'), -1)).toBe(7);

    expect(await textOf(key)).toBe('{"a":1}');
    expect((await store.get(key))?.bytes).toBe(7);
    expect(store.totals).toEqual({ count: 1, bytes: 7 });
  });

  test('of what is there already costs nothing and is answered the same', async () => {
    await put('[1]');

    expect(await store.put(keyOf('[1]'), untouched(), 3)).toBe(3);
  });

  test('with another hash is refused by both hashes, and leaves nothing', async () => {
    const { sha256 } = keyOf('right');
    const refused = store.put({ namespace: 'default', sha256 }, bodyOf('wrong'), 5);

    await expect(refused).rejects.toMatchObject({
      code: 'blob_hash_mismatch',
      message: expect.stringContaining(`SHA-256 ${keyOf('wrong').sha256}, not ${sha256}`),
    });
    expect(await filesIn(folder)).toEqual([]);
  });

  test('that breaks off leaves nothing, and can be tried again', async () => {
    const broken = store.put(keyOf('whole'), bodyOf('who', new Error('reset')), 5);

    await expect(broken).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await filesIn(folder)).toEqual([]);
    expect(await put('whole')).toBe(5);
  });

  test('that ends early, as if that were its end, is not taken', async () => {
    const cut = store.put(keyOf('whole'), bodyOf('who'), 5);

    await expect(cut).rejects.toMatchObject({ code: 'blob_hash_mismatch' });
    expect(await textOf(keyOf('whole'))).toBeUndefined();
  });

  test('of more than the limit is refused by what it announces, unread', async () => {
    const announced = store.put(keyOf('x'), untouched(), LIMITS.blobBytesMax + 1);

    await expect(announced).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  test('of more than the limit is refused by what arrives', async () => {
    const endless = (async function* () {
      for (;;) yield CHUNK;
    })();

    const refused = store.put(keyOf('x'), endless, -1);

    await expect(refused).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(await filesIn(folder)).toEqual([]);
  });

  test('of the same content twice at once is there once', async () => {
    const bytes = await Promise.all([put('[1,2]'), put('[1,2]')]);

    expect(bytes).toEqual([5, 5]);
    expect(await filesIn(folder)).toEqual([keyOf('[1,2]').sha256]);
  });

  test('leaves the reserve of the disk alone', async () => {
    store = await opened(2 ** 60);

    await expect(put('1')).rejects.toMatchObject({ code: 'disk_full', status: 507 });
    expect(await filesIn(folder)).toEqual([]);
  });

  test('is refused when too many are under way, and taken when one has ended', async () => {
    const go = Promise.withResolvers<void>();
    const allArrive = Promise.withResolvers<void>();
    let arriving = 0;
    const slow = async function* (text: string): AsyncGenerator<Uint8Array> {
      arriving += 1;
      if (arriving === 64) allArrive.resolve();
      await go.promise;
      yield Buffer.from(text);
    };
    const texts = Array.from({ length: 64 }, (_, n) => `${n}`);
    const others = Promise.all(texts.map((text) => store.put(keyOf(text), slow(text), -1)));
    // An upload counts only after its file was looked up: without this, `one more` may be earlier.
    await Promise.race([allArrive.promise, others]);

    await expect(put('one more')).rejects.toMatchObject({ code: 'overloaded', status: 429 });
    go.resolve();
    await others;
    expect(await put('one more')).toBe(8);
  });
});

test('what a killed process was about to write is gone after the next start', async () => {
  await put('kept');
  await mkdir(join(folder, 'blobs', '.unfinished'), { recursive: true });
  await writeFile(join(folder, 'blobs', '.unfinished', 'half'), 'ke');

  store = await opened();

  expect(await filesIn(folder)).toEqual([keyOf('kept').sha256]);
  expect(await textOf(keyOf('kept'))).toBe('kept');
});

describe('a namespace', () => {
  test('has its own blobs and no others', async () => {
    await put('[1]', 'shop');

    expect(await textOf(keyOf('[1]', 'studio'))).toBeUndefined();
    expect(await textOf(keyOf('[1]', 'shop'))).toBe('[1]');
  });

  test.each(['..', '.', '.unfinished', 'a:b'])('may be called %s', async (namespace) => {
    await put('[1]', namespace);

    expect(await textOf(keyOf('[1]', namespace))).toBe('[1]');
    expect(await filesIn(join(folder, 'blobs'))).toEqual([keyOf('[1]').sha256]);
    for await (const listed of store.list()) {
      expect(listed).toMatchObject([{ namespace, sha256: keyOf('[1]').sha256, bytes: 3 }]);
    }
    expect.assertions(3);
  });
});

describe('a file that was damaged', () => {
  const text = JSON.stringify('y'.repeat(700_000));

  async function damage(change: (bytes: Buffer) => Buffer): Promise<void> {
    await put(text);
    const path = await pathIn(keyOf(text));
    await writeFile(path, change(await readFile(path)));
  }

  const CHANGES: [string, (bytes: Buffer) => Buffer][] = [
    ['in its first byte', (bytes) => Buffer.concat([Buffer.from('!'), bytes.subarray(1)])],
    ['in its last byte', (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from('!')])],
    ['by a cut', (bytes) => bytes.subarray(0, 300_000)],
    ['to nothing', () => Buffer.alloc(0)],
  ];

  test.each(CHANGES)('%s is never read to its end, and set aside', async (_, change) => {
    await damage(change);
    const found = await store.get(keyOf(text));
    let received = 0;

    const reading = (async () => {
      for await (const chunk of found!.body) received += chunk.length;
    })();

    await expect(reading).rejects.toThrow('was damaged');
    expect(received === 0 || received < found!.bytes).toBe(true);
    expect(damaged).toEqual([join(folder, 'blobs', '.damaged', `default.${keyOf(text).sha256}`)]);
    expect(await store.get(keyOf(text))).toBeUndefined();
    await put(text);
    expect(await textOf(keyOf(text))).toBe(text);
  });
});

describe('removing', () => {
  const key = keyOf('[1]');

  beforeEach(async () => {
    await put('[1]');
  });

  test('takes what nobody has used for a day, and nothing younger', async () => {
    now += BLOB_KEPT_MS;
    expect(await store.remove(key)).toBe(false);
    now += 1000;
    expect(await store.remove(key)).toBe(true);

    expect(await textOf(key)).toBeUndefined();
    expect(await store.remove(key)).toBe(false);
  });

  test('leaves what was uploaded again, or named by a task, meanwhile', async () => {
    now += BLOB_KEPT_MS + 1000;
    await store.put(key, untouched(), 3);
    expect(await store.remove(key)).toBe(false);

    now += BLOB_KEPT_MS + 1000;
    await store.use(key);
    expect(await store.remove(key)).toBe(false);
  });

  test('leaves what somebody is about to name', async () => {
    const { missing, release } = await store.hold('default', [key.sha256]);
    now += BLOB_KEPT_MS + 1000;

    expect(await store.remove(key)).toBe(false);

    release();
    expect(missing.size).toBe(0);
    expect(await store.remove(key)).toBe(true);
  });

  test('leaves what was held, and let go, while the disk was asked how old it is', async () => {
    now += BLOB_KEPT_MS + 1000;
    const { stat } = BlobFiles.prototype;
    vi.spyOn(BlobFiles.prototype, 'stat').mockImplementationOnce(async function (
      this: BlobFiles,
      asked,
    ) {
      const found = await stat.call(this, asked);
      (await store.hold('default', [key.sha256])).release();
      return found;
    });

    expect(await store.remove(key)).toBe(false);

    expect(await textOf(key)).toBe('[1]');
  });

  // Either order is valid. A holder of a blob that is not missing keeps it until the release
  // (blobs.named-exists).
  test.each(Array.from({ length: 40 }, (_, turns) => turns))(
    'at the same time as a hold, %i turns apart, is one or the other',
    async (turns) => {
      now += BLOB_KEPT_MS + 1000;

      const removing = store.remove(key);
      for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve));
      const { missing, release } = await store.hold('default', [key.sha256]);
      const wasRemoved = await removing;

      expect(missing.has(key.sha256)).toBe(wasRemoved);
      expect(await textOf(key)).toBe(wasRemoved ? undefined : '[1]');
      release();
    },
  );
});
