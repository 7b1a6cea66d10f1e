import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { IN_FLIGHT_MIN } from './kill-moment.ts';

const PROGRAM = fileURLToPath(new URL('./kill-rounds.ts', import.meta.url));
const ROUNDS = 20;
const FOLDING_ROUNDS = 5;
const COUNTED_ROUND =
  /^round (\d+): (http1|h2c), (?:stopped for a while, )?(\d+) requests in flight at the kill, \d+ acked/gm;

/** Undefined until the program was started. */
let child: ChildProcess | undefined;
afterEach(() => child?.kill());

/** Runs the program to its end and passes its output on. */
async function killRounds(
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const program = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = program;
  let output = '';
  program.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const [code] = await once(program, 'close');
  return { code: code as number, output };
}

function numberBefore(output: string, words: string): number {
  return Number(new RegExp(`(\\d+) ${words}`).exec(output)?.[1]);
}

test('a server killed over and over under load loses nothing and repeats nothing', async () => {
  const { code, output } = await killRounds(['--rounds', String(ROUNDS)]);

  const rounds = [...output.matchAll(COUNTED_ROUND)];
  expect(rounds.map(([, round]) => Number(round))).toEqual(
    Array.from({ length: ROUNDS }, (_, index) => index + 1),
  );
  for (const [line, , , inFlight] of rounds) {
    expect(Number(inFlight), line).toBeGreaterThanOrEqual(IN_FLIGHT_MIN);
  }
  expect(new Set(rounds.map(([, , protocol]) => protocol))).toEqual(new Set(['http1', 'h2c']));
  expect(code).toBe(0);
  expect(output).toContain('0 lost, 0 finished twice, 0 pushed again while held, ');
  expect(output).toContain(' 0 attempts spent, 0 half batches, 0 early, ');
  // A run that judged nothing would prove nothing.
  expect(numberBefore(output, 'tasks acked')).toBeGreaterThan(0);
  expect(numberBefore(output, 'submits without an answer')).toBeGreaterThan(0);
  expect(numberBefore(output, 'leases held across a kill')).toBeGreaterThan(0);
  expect(numberBefore(output, 'reports sent again')).toBeGreaterThan(0);
  expect(numberBefore(output, 'submits sent again by their keys')).toBeGreaterThan(0);
  expect(numberBefore(output, 'delayed tasks')).toBeGreaterThan(0);
  expect(numberBefore(output, 'failed attempts')).toBeGreaterThan(0);
  expect(output).toContain('stopped for a while');
});

test('a server killed over and over while it folds starts from its snapshots', async () => {
  const { code, output } = await killRounds([
    '--rounds',
    String(FOLDING_ROUNDS),
    '--fold-kib',
    '32',
  ]);

  const rounds = [...output.matchAll(COUNTED_ROUND)].length;
  expect(rounds).toBeGreaterThanOrEqual(FOLDING_ROUNDS);
  expect(code).toBe(0);
  expect(output).toContain('0 lost, 0 finished twice, 0 pushed again while held, ');
  // A kill after the newest has its name and before the oldest is removed leaves three.
  expect(output).toMatch(/^[123] snapshots, the log begins with /m);
});
