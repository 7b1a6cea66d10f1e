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

test('the branches of a dynamic fork are counted, and those that failed come first', () => {
  const tasks = [{ taskReferenceName: 'each' }, { taskReferenceName: 'all' }];
  const input = { reference: '_t_', name: 't', items: Array(8).fill(1) };
  const states = ['succeeded', 'succeeded', 'failed', 'running', 'succeeded', 'succeeded'];
  const branches = [...states, 'succeeded'].map((state, n) => step(`_t_${n}`, state));
  const each = step('each', 'succeeded', { type: 'FORK_JOIN_DYNAMIC', input });
  const steps = [each, step('all', 'pending', { type: 'JOIN' }), ...branches];

  expect(runTree({ steps }, { styles, now, definition: { tasks } })).toEqual([
    '├─ ✓ each FORK_JOIN_DYNAMIC  succeeded',
    '│  └─ 8 branches: 5 succeeded, 1 failed, 1 running, 1 not listed here',
    '│     ├─ ✗ _t_2  failed',
    '│     ├─ ● _t_3  running',
    '│     ├─ ✓ _t_0  succeeded',
    '│     ├─ ✓ _t_1  succeeded',
    '│     ├─ ✓ _t_4  succeeded',
    '│     └─ and 2 more',
    '└─ ○ all JOIN  pending',
  ]);
});

test('branches that a list names are found in their iteration', () => {
  const tasks = [{ taskReferenceName: 'loop', loopOver: [{ taskReferenceName: 'each' }] }];
  const input = { branches: [{ reference: 'a' }] };
  const each = step('each__1', 'succeeded', { type: 'FORK_JOIN_DYNAMIC', input });
  const steps = [step('loop', 'running', { type: 'DO_WHILE' }), each, step('a__1', 'running')];

  expect(runTree({ steps }, { styles, now, definition: { tasks } })).toEqual([
    '└─ ● loop DO_WHILE  running',
    '   └─ iteration 1',
    '      └─ ✓ each__1 FORK_JOIN_DYNAMIC  succeeded',
    '         └─ 1 branch: 1 running',
    '            └─ ● a__1  running',
  ]);
});
