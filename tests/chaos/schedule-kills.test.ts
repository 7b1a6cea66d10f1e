import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { judgeFires } from './schedule-verdict.ts';

const PROGRAM = fileURLToPath(new URL('./schedule-kill-rounds.ts', import.meta.url));

async function killRounds(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args]);
  return stdout;
}

test('every time of many schedules has its task, once, through kills', async () => {
  const printed = await killRounds();

  expect(printed).toContain('\n0 violations\n');
  expect(printed).toMatch(/^[1-9]\d{2,} fires$/m);
});

test('so it has when the killed servers start from snapshots', async () => {
  const printed = await killRounds('--schedules', '100', '--kills', '2', '--fold-kib', '64');

  expect(printed).toContain('\n0 violations\n');
});

const EXPECTED = { count: 1, startAt: 1000, everyMs: 100, roundsMin: 3 };
const fires = (...times: number[]) => times.map((at) => ({ schedule: 's0', at }));

test('a verdict finds nothing wrong with times in a row', () => {
  expect(judgeFires(fires(1200, 1000, 1100), EXPECTED)).toEqual([]);
});

test.each([
  ['one that is missing', fires(1000, 1100, 1300), 'missed or invented a time'],
  ['one that came twice', fires(1000, 1100, 1100), 'fired twice'],
  ['one that is too early', fires(1000, 1099, 1200), 'missed or invented a time'],
  ['too few', fires(1000), 'fired only 1 times'],
  ['an unknown schedule', [...fires(1000, 1100, 1200), { schedule: 'x', at: 1 }], 'does not exist'],
])('a verdict names %s', (_, given, problem) => {
  expect(judgeFires(given, EXPECTED).join()).toContain(problem);
});
