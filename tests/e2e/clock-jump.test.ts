import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const CLOCK = new URL('../support/jumping-clock.ts', import.meta.url).href;
const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');
const DAY_MS = 86_400_000;

let folder: string;
let server: ServerProcess;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});
afterEach(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

interface ClockView {
  readonly state: string;
  readonly wallAheadMs: number;
}

/** The server's clock after its wall clock has been two days ahead for half a minute. */
async function clockAfterJump(...flags: string[]): Promise<ClockView> {
  server = await ServerProcess.start({
    command: LAUNCHER,
    args: ['server', '--port', '0', '--data', folder, ...flags],
    env: { NODE_OPTIONS: `--import ${CLOCK}` },
  });
  server.signal('SIGUSR2');
  await server.printed(/ahead by 172800000 ms/);
  // The server notices the jump now, and accepts or rejects it once it has lasted.
  await fetch(`${server.url}/v1/cluster`);
  server.signal('SIGUSR2');
  await server.printed(/ahead by 172830000 ms/);
  const answer = await fetch(`${server.url}/v1/cluster`);
  return ((await answer.json()) as { clock: ClockView }).clock;
}

test('a jump of days is refused, and log, metrics and cluster say so', async () => {
  const { state, wallAheadMs } = await clockAfterJump();

  expect(state).toBe('jump_refused');
  expect(wallAheadMs).toBeGreaterThan(1.9 * DAY_MS);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('\nsluice_clock_jump_refused 1\n');
  await server.printed(/the wall clock jumped ahead by more than an hour/);
});

test('a jump of days is followed when the setting says so', async () => {
  const { state, wallAheadMs } = await clockAfterJump('--accept-clock-jumps');

  expect(state).toBe('ok');
  expect(Math.abs(wallAheadMs)).toBeLessThan(DAY_MS);
});
