import { expect, test } from 'vitest';
import type { Run, Step } from '../api/answers.ts';
import { stylesFor } from '../screen/styles.ts';
import { runTree } from './run-tree.ts';

const styles = stylesFor({ isTerminal: false, env: {} });
const START = '2030-01-01T00:00:00.000Z';
const now = Date.parse('2030-01-01T00:00:09.000Z');

function step(reference: string, state: string, more: Partial<Step> = {}): Step {
  const blank = {
    type: 'SIMPLE',
    name: reference,
    reason: '',
    attempt: 1,
    taskId: null,
    childRunId: null,
  };
  const times = { startedAt: null, endedAt: null, error: null };
  return { ...blank, ...times, reference, state, ...more } as Step;
}

const definition = {
  tasks: [
    { taskReferenceName: 'probe' },
    {
      taskReferenceName: 'by-length',
      decisionCases: { long: [{ taskReferenceName: 'cut' }] },
      defaultCase: [{ taskReferenceName: 'whole' }],
    },
    { taskReferenceName: 'fork', forkTasks: [[{ taskReferenceName: 'a' }], []] },
  ],
};

const run = {
  steps: [
    step('probe', 'succeeded', { startedAt: START, endedAt: '2030-01-01T00:00:02.000Z' }),
    step('by-length', 'succeeded', { type: 'SWITCH', name: '' }),
    step('cut', 'running', { name: 'cutter', startedAt: START, attempt: 2 }),
    step('whole', 'pending'),
    step('fork', 'pending', { type: 'FORK_JOIN', name: '' }),
    step('a', 'failed', { error: { message: 'no\u001b[2J disk', code: 'x' } as Step['error'] }),
  ],
} as unknown as Run;

test('the steps are drawn as the definition nests them', () => {
  expect(runTree(run, { styles, now, definition })).toEqual([
    '├─ ✓ probe  succeeded  2 s',
    '├─ ✓ by-length SWITCH  succeeded',
    '│  ├─ case long',
    '│  │  └─ ● cut (cutter)  running  9 s  attempt 2',
    '│  └─ otherwise',
    '│     └─ ○ whole  pending',
    '└─ ○ fork FORK_JOIN  pending',
    '   ├─ branch 1',
    expect.stringMatching(/^ {3}│ {2}└─ ✗ a {2}failed {2}no.*disk$/),
    '   └─ branch 2',
  ]);
});

test('control characters of an error do not reach the terminal', () => {
  expect(runTree(run, { styles, now, definition }).join('\n')).not.toContain('\u001b');
});

test('without the definition the steps are a list', () => {
  const lines = runTree(run, { styles, now });

  expect(lines).toHaveLength(6);
  expect(lines[5]).toMatch(/^└─ ✗ a/);
});
