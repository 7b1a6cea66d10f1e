/** The page "Build a pipeline": its program and its commands, as people type them. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const ROOT = join(import.meta.dirname, '../..');
const LAUNCHER = join(ROOT, 'packages/cli/bin/sluice');

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
  env = { ...process.env, SLUICE_URL: server.url };
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** What a command prints, with RUN for the id of the run. */
async function printed(command: string, id: string): Promise<string> {
  const words = [...command.replaceAll('RUN', id).matchAll(/'([^']*)'|(\S+)/g)];
  const [, ...args] = words.map(([, quoted, plain]) => quoted ?? plain);
  const { stdout } = await promisify(execFile)(LAUNCHER, args, { env });
  return stdout.replaceAll(id, 'RUN');
}

/** Ids and durations differ each time. */
function withoutNumbers(text: string): string {
  return text
    .replaceAll(/[rt]_\w{6,}/g, 'ID')
    .replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/g, 'TIME')
    .replaceAll(/ +/g, ' ');
}

test('the program waits for a review, and the commands of the page show and end it', async () => {
  const page = await readFile(join(ROOT, 'docs/pipeline.md'), 'utf8');
  const commands = [...page.matchAll(/^sluice .*$/gm)].map(([command]) => command);
  const [, tree = ''] = /```text\n(.*?)```/s.exec(page) ?? [];
  const main = spawn(process.execPath, [join(ROOT, 'examples/pipeline/main.ts')], { env });
  const lines = createInterface({ input: main.stdout })[Symbol.asyncIterator]();
  try {
    const [id = ''] = /r_\w+/.exec(String((await lines.next()).value)) ?? [];
    const isAsking = async (): Promise<boolean> => {
      const { steps } = (await api.get(`/v1/runs/${id}`)).body;
      return steps.some(
        (step: { reference: string; state: string }) =>
          step.reference === 'review' && step.state === 'running',
      );
    };
    await waitUntil(isAsking, { what: 'the run asks', timeoutMs: 20_000 });

    const shown = await Promise.all(commands.slice(0, 3).map((each) => printed(each, id)));
    expect(commands).toHaveLength(4);
    expect(shown[0]).toContain('publish-text');
    expect(withoutNumbers(shown[1])).toContain(withoutNumbers(tree));
    expect(shown[2]).toContain('review');
    await printed(commands[3], id);

    expect((await lines.next()).value).toBe('published: https://example.com/25');
  } finally {
    main.kill();
  }
});
