import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FolderInUseError } from '../contract/log-errors.ts';
import { readTexts } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';

const PROGRAM = fileURLToPath(new URL('../testing/appending-process.ts', import.meta.url));

let folder: TempFolder;
let children: ChildProcess[];
beforeEach(async () => {
  folder = await TempFolder.create();
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await folder.dispose();
});

function startAppending(): ChildProcess {
  return start([PROGRAM, folder.logFolder]);
}

function start(args: readonly string[], program = process.execPath): ChildProcess {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const child = spawn(program, args, { stdio });
  children.push(child);
  return child;
}

/** Kills the process after this many acknowledgements and returns everything that it printed. */
async function killAfter(child: ChildProcess, acknowledgements: number): Promise<string[]> {
  let printed = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
    if (printed.split('\n').length - 1 > acknowledgements) child.kill('SIGKILL');
  });
  // By then all its output has been read, including what came after the kill.
  await once(child, 'close');
  return printed.split('\n').slice(0, -1);
}

test('a process that is killed over and over loses nothing that it acknowledged', async () => {
  let acknowledged = 0;
  for (const acknowledgements of [1, 40, 7, 150, 23]) {
    const [first, ...records] = await killAfter(startAppending(), acknowledgements);

    expect(records.length).toBeGreaterThanOrEqual(acknowledgements);
    // One more than was printed may have landed; nothing that was printed may be missing.
    const from = Number(first.replace('holds from ', ''));
    expect([acknowledged, acknowledged + 1]).toContain(from);
    acknowledged = from + records.length;
  }

  const texts = await readTexts(await folder.open());

  expect([acknowledged, acknowledged + 1]).toContain(texts.length);
  const expected = texts.map((_, record) => `record ${record} `.repeat(1 + (record % 40)));
  expect(texts).toEqual(expected);
});

test('a folder that another process has open is refused until that process is gone', async () => {
  const child = startAppending();
  await once(child.stdout!, 'data');

  await expect(folder.open()).rejects.toThrow(FolderInUseError);

  child.stdout!.resume();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const log = await folder.open();
  expect((await log.acquire()).epoch).toBe(2);
});

/** The error output and exit code of a process that ends by itself. */
async function complaintOf(child: ChildProcess): Promise<[code: number, complaint: string]> {
  let complaint = '';
  child.stderr!.on('data', (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(child, 'close');
  return [code, complaint];
}

test('another process is told that this one has the folder open', async () => {
  await folder.open();

  const [code, complaint] = await complaintOf(startAppending());

  expect(code).toBe(1);
  expect(complaint).toContain(`'${folder.logFolder}' is in use by process ${process.pid} on host`);
});

test('a process in another network namespace is kept out, like a container', async () => {
  await folder.open();
  const inNamespace = ['--net', '--uts', process.execPath, PROGRAM, folder.logFolder];

  const [code, complaint] = await complaintOf(start(inNamespace, 'unshare'));

  expect(code).toBe(1);
  expect(complaint).toContain(`'${folder.logFolder}' is in use by process ${process.pid} on host`);
});

test('a log that was left open does not keep its process alive', async () => {
  const module = JSON.stringify(new URL('./file-log.ts', import.meta.url).href);
  const options = JSON.stringify({ folder: folder.logFolder });
  const program = `import { FileLog } from ${module}; await FileLog.open(${options});`;

  const [code] = await once(start(['--input-type=module', '--eval', program]), 'exit');

  expect(code).toBe(0);
});
