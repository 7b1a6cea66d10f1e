import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FileSnapshots } from '@sluice/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeyIn } from '../access/create-key.ts';
import { DEFAULTS } from '../assembly/server-options.ts';
import { EMBEDDED_PARTITION } from '../config/embedded-partition.ts';
import { ServerLog } from '../observation/server-log.ts';
import { Server } from './server.ts';

let dataFolder: string;
let lines: string[];

beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'sluice-failed-start-'));
  lines = [];
});

afterEach(() => rm(dataFolder, { recursive: true }));

test('a start that cannot load the snapshots changes nothing in the data folder', async () => {
  await runOnce();
  await runOnce();
  await trimLog();
  await saveOtherSnapshot(2);
  setSchema('projection/mark.sqlite', 7);
  setSchema('projection/days/0000-kept.sqlite', 7);
  await rm(join(dataFolder, 'task-logs'), { recursive: true });
  const before = filesIn(dataFolder);

  const message = await start().then(
    () => 'it started',
    (cause: Error) => cause.message,
  );

  expect(message).toMatch(/^the log begins with record [1-9]\d*, and no snapshot .* can be loaded/);
  expect(message).toContain('snapshot 2: its schema is 99, and this version of Sluice knows 3 to ');
  expect(message).toContain('that version can start on this folder');
  expect(filesIn(dataFolder)).toEqual(before);
  const folder = { ...DEFAULTS, dataFolder, partition: EMBEDDED_PARTITION };
  await expect(createKeyIn(folder, { roles: ['admin'] })).rejects.toThrow(message);
  expect(filesIn(dataFolder)).toEqual(before);
});

test('search files of another version are set aside with a warning, and rebuilt', async () => {
  const task = await runOnce();
  setSchema('projection/mark.sqlite', 7);
  for (const name of readdirSync(join(dataFolder, 'projection/days'))) {
    setSchema(`projection/days/${name}`, 7);
  }

  const found = await runOnce(task);

  expect(found).toBe(task);
  const warnings = lines.map((line) => JSON.parse(line) as { level: string; file?: string });
  expect(new Set(warnings.map(({ level }) => level))).toEqual(new Set(['warn']));
  expect(warnings.map(({ file }) => file)).toContain(
    join(dataFolder, 'projection/mark.sqlite.schema-7'),
  );
});

function start(): Promise<Server> {
  const log = new ServerLog({ level: 'warn', write: (line) => lines.push(line) });
  const address = { host: '127.0.0.1', port: 0 };
  const onFatal = (cause: Error) => expect.fail(cause.message);
  return Server.start({ ...address, dataFolder, version: '0', onFatal, log });
}

/** Starts and stops a server. Returns the task that it searched for, or else submitted. */
async function runOnce(search?: string): Promise<string> {
  const server = await start();
  try {
    if (search !== undefined) {
      const answer = await fetch(`${server.url}/v1/tasks?type=hello`);
      return ((await answer.json()) as { items: { id: string }[] }).items[0]?.id;
    }
    const body = '{"type":"hello"}';
    const answer = await fetch(`${server.url}/v1/tasks`, { method: 'POST', body });
    return ((await answer.json()) as { id: string }).id;
  } finally {
    await server.close();
  }
}

/** Each start begins a segment; removing the first one is what a trim does. */
async function trimLog(): Promise<void> {
  const segments = readdirSync(join(dataFolder, 'log')).filter((name) => name.endsWith('.log'));
  await rm(join(dataFolder, 'log', segments.sort()[0]));
}

/** A snapshot that another version saved. */
async function saveOtherSnapshot(position: number): Promise<void> {
  const snapshots = await FileSnapshots.open(join(dataFolder, 'snapshots'));
  const header = { position, schema: 99, hash: 0, base: 0 };
  await snapshots.save(header, (write) => write(new Uint8Array(10)));
}

function setSchema(file: string, version: number): void {
  const db = new DatabaseSync(join(dataFolder, file));
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
}

/** Every file below the folder with its content, and every folder. */
function filesIn(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true }) as string[];
  return Object.fromEntries(
    paths.sort().map((path) => {
      const full = join(folder, path);
      if (statSync(full).isDirectory()) return [path, 'folder'];
      return [path, createHash('sha256').update(readFileSync(full)).digest('hex')];
    }),
  );
}
