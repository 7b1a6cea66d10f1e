import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { engineTest } from '../support/engine-tests.ts';
import { judgeLedger } from './agent-verdict.ts';

const PROGRAM = fileURLToPath(new URL('./agent-kill-rounds.ts', import.meta.url));

engineTest(
  'agent, engine and server are killed: nothing overlaps, is lost or left behind',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM]);

    expect(stdout).toContain('\n0 violations\n');
  },
);

const DONE = new Map([['t_1', 'succeeded']]);

test('a verdict finds nothing wrong with a task that ran again after a kill', () => {
  expect(judgeLedger('beat t_1 a\nbeat t_1 b\nend t_1 b\n', DONE)).toEqual([]);
});

test.each([
  ['two programs at once', 'beat t_1 a\nbeat t_1 b\nbeat t_1 a\nend t_1 b\n', DONE, 'same time'],
  ['an end that nobody saw', 'beat t_1 a\n', DONE, 'no program of it ended'],
  ['a lost task', 'beat t_1 a\nend t_1 a\n', new Map([['t_1', 'failed']]), 't_1 is failed'],
  ['an unknown task', 'end t_1 a\nbeat t_2 b\n', DONE, 't_2 was never acknowledged'],
])('a verdict names %s', (_, ledger, states, problem) => {
  expect(judgeLedger(ledger, states)).toEqual([expect.stringContaining(problem)]);
});
