import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES } from '@sluice/protocol';
import { expect, test } from 'vitest';
import { requestStorm } from '../chaos/request-storm.ts';
import { ServerProcess } from '../support/server-process.ts';

test('no request leads to a 500, a hang or an answer that is not announced', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  const server = await ServerProcess.startDev(folder);
  const seed = Date.now();

  const { answers, problems } = await requestStorm(server.url, { count: 3000, seed });

  const isReady = await fetch(`${server.url}/health/ready`);
  await server.kill();
  await rm(folder, { recursive: true });
  expect({ seed, problems }).toEqual({ seed, problems: [] });
  expect(isReady.status).toBe(200);
  const asked = new Set([...answers.keys()].map((name) => name.split(' ')[0]));
  expect([...asked].sort()).toEqual(Object.keys(ROUTES).sort());
});
