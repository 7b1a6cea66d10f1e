import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { receiveBackup } from './receive-backup.ts';

const BEGIN = { kind: 'begin', format: 1, version: '0.1.0', startedAt: 'then' };
const CONTENT = 'some\nlines of a file';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-receive-'));
});

afterEach(() => rm(folder, { recursive: true }));

function file(path: string, content = CONTENT): string {
  const sha256 = createHash('sha256').update(content).digest('hex');
  const bytes = content.length;
  const [first, second] = [content.slice(0, 5), content.slice(5)];
  const pieces = [first, second].map((each) => line({ kind: 'piece', bytes: each.length }) + each);
  return line({ kind: 'file', path, bytes }) + pieces.join('') + line({ kind: 'check', sha256 });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

const END = line({ kind: 'end', files: 1, bytes: CONTENT.length });

/** The text in pieces of `length` bytes. */
async function* inPieces(text: string, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += length) {
    yield new TextEncoder().encode(text.slice(at, at + length));
  }
}

function receive(text: string, pieceBytes = 1000) {
  return receiveBackup(inPieces(text, pieceBytes), folder, () => undefined);
}

test.each([1, 7, 1000])('files are written as they were sent, in pieces of %i bytes', async (n) => {
  const text = line(BEGIN) + line({ kind: 'wait' }) + file('log/a') + END;

  const received = await receive(text, n);

  const { version, startedAt } = BEGIN;
  expect(received).toEqual({ files: 1, bytes: CONTENT.length, version, startedAt });
  expect(readFileSync(join(folder, 'log/a'), 'utf8')).toBe(CONTENT);
  const manifest = readFileSync(join(folder, 'manifest.jsonl'), 'utf8').trimEnd().split('\n');
  expect(manifest).toHaveLength(3);
  expect(manifest.at(-1)).toContain('"kind":"end"');
});

test.each([
  ['a cut line', line(BEGIN).slice(0, -1)],
  ['no end', line(BEGIN) + file('log/a')],
  ['a cut file', (line(BEGIN) + file('log/a')).slice(0, 150)],
  ['a changed byte', (line(BEGIN) + file('log/a') + END).replace('some', 'same')],
  ['a missing file', line(BEGIN) + END],
  ['something else', '<html>\n'],
  ['another beginning', END],
])('%s is no backup', async (_, text) => {
  await expect(receive(text)).rejects.toThrow('the backup failed');

  const manifest = join(folder, 'manifest.jsonl');
  const isWhole = existsSync(manifest) && readFileSync(manifest, 'utf8').includes('"kind":"end"');
  expect(isWhole).toBe(false);
});

test.each(['../outside', 'log/../../outside', '/etc/outside', 'else/where', 'log/.', 'log//a'])(
  'a file called %s is not written',
  async (path) => {
    await expect(receive(line(BEGIN) + file(path) + END)).rejects.toThrow('invalid file name');
  },
);

test('what the server says went wrong is passed on, also within a file', async () => {
  const error = line({ kind: 'error', code: 'disk_full', message: 'make room' });
  const half = file('log/a').split('{"kind":"check"')[0];

  for (const before of ['', half]) {
    await expect(receive(line(BEGIN) + before + error)).rejects.toThrow('make room (disk_full)');
    await rm(join(folder, 'manifest.jsonl'));
  }
});

test('a later format is refused', async () => {
  await expect(receive(line({ ...BEGIN, format: 2 }))).rejects.toThrow('supports 1');
});
