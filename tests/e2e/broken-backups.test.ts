import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SmallDisk } from '../../packages/log/src/testing/tmpfs-fixture.ts';
import { DoomedBackup, restoreInto, takeBackup } from '../support/backup-commands.ts';
import { ServerProcess } from '../support/server-process.ts';
import { type Ended, runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

/** More data than sockets and pipes can buffer. */
const TASKS = 300;
const TASK_BYTES = 100_000;

let folder: string;
let server: ServerProcess;
let copy: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-broken-'));
  await start();
  const api = new ApiClient(server.url, 'http1');
  const input = 'x'.repeat(TASK_BYTES);
  for (let n = 0; n < TASKS / 30; n++) {
    const { status } = await api.post('/v1/tasks', Array(30).fill({ type: 'big', input }));
    expect(status).toBe(201);
  }
  api.close();
  copy = join(folder, 'copy');
  await takeBackup(server.url, copy);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  const limits = ['--http-stalled-reader-ms', '3000'];
  server = await ServerProcess.startServer(join(folder, 'data'), ...limits);
}

function fresh(name: string): string {
  count += 1;
  return join(folder, `${name}-${count}`);
}

async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));
}

/** A copy of the backup with this damage. */
async function damaged(damage: (path: string) => Promise<void>): Promise<string> {
  const path = fresh('damaged');
  await cp(copy, path, { recursive: true });
  await damage(path);
  return path;
}

/** The restore is refused and leaves nothing behind. */
async function refused(path: string): Promise<Ended> {
  const data = fresh('data');
  const ended = await runSluice(['restore', path, '--data', data]);
  expect([ended.code, existsSync(data)]).toEqual([1, false]);
  return ended;
}

/** Rewrites the manifest with a correct checksum. */
async function rewriteManifest(path: string, change: (begin: object) => object): Promise<void> {
  const manifest = join(path, 'manifest.jsonl');
  const [begin, ...lines] = readFileSync(manifest, 'utf8').trimEnd().split('\n');
  const end = JSON.parse(lines.pop() ?? '');
  const text = [JSON.stringify(change(JSON.parse(begin))), ...lines, ''].join('\n');
  const sha256 = createHash('sha256').update(text).digest('hex');
  await writeFile(manifest, `${text}${JSON.stringify({ ...end, sha256 })}\n`);
}

describe('a backup that is not what was taken is refused', () => {
  test('when a byte of any file flipped, by the name of the file', async () => {
    const files = await filesIn(copy);
    expect(files).toContain('stats.json');
    expect(files.length).toBeGreaterThan(4);

    for (const file of files) {
      const path = await damaged(async (each) => {
        const bytes = readFileSync(join(each, file));
        bytes[Math.floor(bytes.length / 2)] ^= 1;
        await writeFile(join(each, file), bytes);
      });
      const { stderr } = await refused(path);
      expect(stderr).toContain(join(path, file));
      await rm(path, { recursive: true });
    }
  });

  test('when a file was cut or is missing', async () => {
    const file = 'projection/mark.sqlite';
    const cut = await damaged((path) => truncate(join(path, file), 100));
    const missing = await damaged((path) => rm(join(path, file)));

    expect((await refused(cut)).stderr).toContain(`${file}': it has 100 bytes instead of`);
    expect((await refused(missing)).stderr).toContain(`${file}': it is missing`);
  });

  test('when its manifest was cut, or is missing', async () => {
    const cut = await damaged(async (path) => {
      const manifest = join(path, 'manifest.jsonl');
      const lines = readFileSync(manifest, 'utf8').trimEnd().split('\n');
      await writeFile(manifest, `${lines.slice(0, -1).join('\n')}\n`);
    });
    const missing = await damaged((path) => rm(join(path, 'manifest.jsonl')));

    expect((await refused(cut)).stderr).toContain('its end is missing');
    expect((await refused(missing)).stderr).toContain('is not a backup');
  });

  test('when a newer version made it', async () => {
    const newer = await damaged((path) =>
      rewriteManifest(path, (begin) => ({ ...begin, version: '99.1.1' })),
    );
    const format = await damaged((path) =>
      rewriteManifest(path, (begin) => ({ ...begin, format: 2, version: '3.0.0' })),
    );
    const same = await damaged((path) => rewriteManifest(path, (begin) => begin));

    expect((await refused(newer)).stderr).toContain('made by Sluice 99.1.1, which is newer');
    expect((await refused(format)).stderr).toContain('restore it with Sluice 3.0.0 or later');
    await restoreInto(fresh('data'), same);
  });

  test('when it names a file outside of the data folder', async () => {
    const path = await damaged(async (each) => {
      const manifest = join(each, 'manifest.jsonl');
      const text = readFileSync(manifest, 'utf8').replace('"stats.json"', '"log/../../stats.json"');
      await writeFile(manifest, text);
      await rewriteManifest(each, (begin) => begin);
    });

    expect((await refused(path)).stderr).toContain('names no file of a backup');
  });
});

describe('folders', () => {
  test('a backup goes into a new one, next to what is there', async () => {
    const again = await runSluice(['backup', copy, '--url', server.url]);
    const nowhere = await runSluice(['backup', join(folder, 'no/where'), '--url', server.url]);

    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') });
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('create it first') });
  });

  test('a data folder that is not empty stays as it is', async () => {
    const data = fresh('data');
    await cp(copy, data, { recursive: true });
    const before = await filesIn(data);

    const ended = await runSluice(['restore', copy, '--data', data]);

    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
    expect(await filesIn(data)).toEqual(before);
  });

  test('a data folder that is in use is refused, and its server goes on', async () => {
    const data = join(folder, 'data');

    const ended = await runSluice(['restore', copy, '--data', data]);

    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
    // A running server creates and removes other files.
    expect(await readdir(data)).not.toContain('restore.unfinished');
    const api = new ApiClient(server.url, 'http1');
    expect(await api.post('/v1/tasks', { type: 'small' })).toMatchObject({ status: 201 });
    api.close();
  });

  test('no server starts where a restore broke off, and no restore goes on there', async () => {
    const data = fresh('data');
    await mkdir(data);
    await writeFile(join(data, 'restore.unfinished'), '');

    const restored = await runSluice(['restore', copy, '--data', data]);
    const started = await runSluice(['dev', '--port', '0', '--data', data]);

    expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining('has failed') });
    expect(started).toMatchObject({ code: 1, stderr: expect.stringContaining('has failed') });
    expect(await readdir(data)).toEqual(['restore.unfinished']);
  });
});

describe('a full disk', () => {
  test('leaves nothing of a backup, and nothing of a restore', async () => {
    const disk = await SmallDisk.mount((TASKS * TASK_BYTES) / 4);
    try {
      const target = join(disk.path, 'copy');
      const backup = await runSluice(['backup', target, '--url', server.url]);
      const restore = await runSluice(['restore', copy, '--data', join(disk.path, 'data')]);

      expect(backup).toMatchObject({ code: 1, stderr: expect.stringContaining('ENOSPC') });
      expect(restore).toMatchObject({ code: 1, stderr: expect.stringContaining('ENOSPC') });
      expect(await readdir(disk.path)).toEqual(['data']);
      expect(await readdir(join(disk.path, 'data'))).toEqual([]);
    } finally {
      await disk.unmount();
    }
  });
});

/** A backup request whose answer is not read yet. */
function asked(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${server.url}/v1/backup`, { agent: false }, resolve).on('error', reject);
  });
}

/** Takes a backup once the server has noticed that nobody reads the one before. */
async function nextBackup(): Promise<string> {
  let target = '';
  const isTaken = async () => {
    target = fresh('after');
    return (await runSluice(['backup', target, '--url', server.url])).code === 0;
  };
  await waitUntil(isTaken, { what: 'another backup may be taken', timeoutMs: 30_000 });
  return target;
}

describe('somebody dies in the middle', () => {
  test('a command that is killed leaves what nobody takes for a backup', async () => {
    const target = fresh('killed');
    const unfinished = `${target}.unfinished`;
    const doomed = new DoomedBackup(server.url, target);
    const hasBegun = () => existsSync(join(unfinished, 'projection'));
    await waitUntil(hasBegun, { what: 'the backup has begun', timeoutMs: 30_000 });
    await doomed.kill();

    expect(existsSync(target)).toBe(false);
    expect((await refused(unfinished)).code).toBe(1);
    const again = await runSluice(['backup', target, '--url', server.url]);
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('if so, remove the folder'),
    });
  });

  test('a reader that takes nothing is cut, and the next backup is whole', async () => {
    const stalled = await asked();

    const target = await nextBackup();

    // Unread data is lost with the connection, including the end of the backup.
    const text = await new Promise<string>((resolve) => {
      const pieces: Buffer[] = [];
      stalled.on('data', (piece: Buffer) => pieces.push(piece));
      stalled.once('error', () => undefined);
      stalled.once('close', () => resolve(Buffer.concat(pieces).toString('latin1')));
    });
    expect(text).toContain('"kind":"begin"');
    expect(text).not.toContain('"kind":"end"');
    await restoreInto(fresh('data'), target);
  });

  test('two at once: the second is told to come later', async () => {
    const first = await asked();

    const second = await asked();

    first.destroy();
    second.destroy();
    expect([first.statusCode, second.statusCode]).toEqual([200, 429]);
  });

  test('a server that is killed leaves no backup, and starts again', async () => {
    const target = fresh('cut');
    const staged = join(folder, 'data', 'backup.unfinished');
    await nextBackup();
    const taking = runSluice(['backup', target, '--url', server.url]);
    const hasBegun = () => existsSync(join(`${target}.unfinished`, 'projection'));
    await waitUntil(hasBegun, { what: 'the backup has begun', timeoutMs: 30_000 });
    await server.kill();

    const { code, stderr } = await taking;
    await mkdir(staged, { recursive: true });
    await start();
    expect(existsSync(staged)).toBe(false);
    await takeBackup(server.url, fresh('after'));

    expect(code).toBe(3);
    expect(stderr).toMatch(/lost the connection|the backup failed/);
    expect([existsSync(target), existsSync(`${target}.unfinished`)]).toEqual([false, false]);
    expect(existsSync(staged)).toBe(false);
  });
});
