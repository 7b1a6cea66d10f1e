import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BackupOrder, sendBackup } from './send-backup.ts';

/** A reader that takes everything, and may disconnect. */
class Reader {
  text = '';
  readonly gone = new AbortController();
  onWrite: () => void = () => undefined;

  get signal(): AbortSignal {
    return this.gone.signal;
  }

  get lines(): { readonly kind: string }[] {
    const texts = this.text.split('\n').filter((line) => line.startsWith('{"kind"'));
    return texts.map((line) => JSON.parse(line));
  }

  async write(piece: string | Uint8Array): Promise<void> {
    this.text += typeof piece === 'string' ? piece : Buffer.from(piece).toString();
    this.onWrite();
  }
}

let folder: string;
let reader: Reader;
let held: boolean;
let failures: string[];
let order: BackupOrder;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-send-'));
  for (const each of ['snapshots', 'projection/days', 'log']) {
    await mkdir(join(folder, each), { recursive: true });
  }
  const segment = join(folder, 'log', '0-1.log');
  await writeFile(segment, 'committed\nand not');
  reader = new Reader();
  held = false;
  failures = [];
  order = {
    dataFolder: folder,
    version: '1.2.3',
    startedAt: 'now',
    log: {
      hold: () => {
        held = true;
        return {
          committed: () => [{ path: segment, bytes: 'committed\n'.length }],
          release: () => {
            held = false;
          },
        };
      },
    },
    logs: {
      async *copies() {
        yield { path: 'day/ab/lines', content: Buffer.from('lines\n') };
      },
    },
    blobs: {
      async *list() {
        yield [];
      },
    },
    statsText: () => '{}\n',
    isFull: () => false,
    onFailed: ({ message }) => failures.push(message),
  };
});

afterEach(() => rm(folder, { recursive: true }));

test('every file comes with its length and checksum, and the end says how much', async () => {
  await sendBackup(reader, order);

  expect(reader.lines).toEqual([
    { kind: 'begin', format: 1, version: '1.2.3', startedAt: 'now' },
    { kind: 'file', path: 'log/0-1.log', bytes: 10 },
    { kind: 'piece', bytes: 10 },
    {
      kind: 'check',
      sha256: 'cc2e4bb51f522b77c0c3ad04f7a87386a7e06d4fa287c004b6c066410c5c24dc',
    },
    { kind: 'file', path: 'stats.json', bytes: 3 },
    { kind: 'piece', bytes: 3 },
    expect.objectContaining({ kind: 'check' }),
    { kind: 'file', path: 'task-logs/day/ab/lines', bytes: 6 },
    { kind: 'piece', bytes: 6 },
    expect.objectContaining({ kind: 'check' }),
    { kind: 'end', files: 3, bytes: 19 },
  ]);
  expect(reader.text).not.toContain('and not');
});

test('the log is held until it was read, and no longer', async () => {
  const heldAt: [string | undefined, boolean][] = [];
  reader.onWrite = () => heldAt.push([reader.lines.at(-1)?.kind, held]);

  await sendBackup(reader, order);

  expect(heldAt[0]).toEqual(['begin', false]);
  expect(heldAt[1]).toEqual(['file', true]);
  expect(heldAt.slice(-3).map(([, isHeld]) => isHeld)).toEqual([false, false, false]);
});

test.each([
  ['takes too long', { holdMsMax: 0 }, 'unavailable'],
  ['comes to a disk that is full', { isFull: () => true }, 'disk_full'],
])('a backup that %s breaks off and says so, and the log is let go', async (_, more, code) => {
  await sendBackup(reader, { ...order, ...more });

  expect(reader.lines.at(-1)).toMatchObject({ kind: 'error', code });
  expect(failures).toHaveLength(1);
  expect(held).toBe(false);
});

test('a reader that goes away lets go of the log', async () => {
  reader.onWrite = () => {
    if (reader.lines.length === 2) reader.gone.abort();
  };

  await sendBackup(reader, order);

  expect(reader.lines.map(({ kind }) => kind)).toEqual(['begin', 'file', 'piece']);
  expect(held).toBe(false);
});

test('a file that is shorter than it was said to be ends the backup', async () => {
  await writeFile(join(folder, 'log', '0-1.log'), 'com\n');

  await sendBackup(reader, order);

  expect(reader.lines.at(-1)).toEqual({
    kind: 'error',
    code: 'internal_error',
    message: 'something went wrong on the server',
  });
  expect(failures).toEqual(['log/0-1.log ends after 4 of 10 bytes']);
});
