import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { REGRESSIONS } from './seeds/regressions.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** Runs the command as people do. */
async function sim(...args: string[]): Promise<Outcome> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], {
      maxBuffer: 2 ** 26,
    });
    return { code: 0, output: stdout };
  } catch (failure) {
    const { code, stdout, stderr } = failure as { code: number; stdout: string; stderr: string };
    return { code, output: `${stdout}${stderr}` };
  }
}

function failuresIn({ output }: Outcome): string[] {
  return output.split('\n').filter((line) => /^FAILED|^again:/.test(line));
}

test('every promise holds in 60 worlds', async () => {
  const outcome = await sim('--seeds', '60', '--from', '1');
  expect(failuresIn(outcome)).toEqual([]);
  expect(outcome.output).toContain('60 seeds, 0 failed');
  expect(outcome.code).toBe(0);
});

test('in 24 worlds everything that can end has ended a while after they were healed', async () => {
  const outcome = await sim('--seeds', '24', '--from', '1', '--mode', 'liveness');
  expect(failuresIn(outcome)).toEqual([]);
  expect(outcome.output).toContain('24 seeds, 0 failed');
});

test('every promise holds in 24 worlds with several servers', async () => {
  const outcome = await sim('--cluster', '--seeds', '24', '--from', '1');
  expect(failuresIn(outcome)).toEqual([]);
  expect(outcome.output).toContain('24 seeds, 0 failed');
});

test('in 10 worlds with several servers one serves, and all has ended, once healed', async () => {
  const outcome = await sim('--cluster', '--seeds', '10', '--from', '1', '--mode', 'liveness');
  expect(failuresIn(outcome)).toEqual([]);
  expect(outcome.output).toContain('10 seeds, 0 failed');
});

test.concurrent.for(REGRESSIONS)(
  'a bug that was found stays away: $what',
  async ({ seed, mode, runs }) => {
    const flags = runs === true ? ['--runs'] : [];
    const outcome = await sim('--seed', String(seed), '--mode', mode, '--no-shrink', ...flags);
    expect(failuresIn(outcome)).toEqual([]);
    expect(outcome.output).toContain('1 seeds, 0 failed');
  },
);

test('the same seed gives the same trace, line by line', async () => {
  const [first, second] = [
    await sim('--seed', '3', '--trace'),
    await sim('--seed', '3', '--trace'),
  ];
  const lines = (outcome: Outcome) =>
    outcome.output.split('\n').filter((line) => / core /.test(line));
  expect(lines(first).length).toBeGreaterThan(100);
  expect(lines(first)).toEqual(lines(second));
});

test('a world with several servers is the same each time', async () => {
  const [first, second] = [
    await sim('--cluster', '--seed', '4', '--trace'),
    await sim('--cluster', '--seed', '4', '--trace'),
  ];
  const lines = (outcome: Outcome) => {
    return outcome.output.split('\n').filter((line) => / database | server\d/.test(line));
  };
  expect(lines(first).length).toBeGreaterThan(100);
  expect(lines(first)).toEqual(lines(second));
});

test('options that make no sense are named, with exit code 2', async () => {
  for (const args of [
    ['--seeds', 'many'],
    ['--mode', 'fast'],
    ['--sede', '4'],
    ['--seed', '-1'],
  ]) {
    const { code, output } = await sim(...args);
    expect(code).toBe(2);
    expect(output).toContain(args[0]);
    expect(output).toContain('--help');
  }
});

test('--help says how to use it', async () => {
  const { code, output } = await sim('--help');
  expect(code).toBe(0);
  expect(output).toContain('--mode MODE');
});
