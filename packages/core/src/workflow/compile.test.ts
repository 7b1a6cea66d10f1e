import { expect, test } from 'vitest';
import { testUtf8 } from '../testing/test-utf8.ts';
import { compileDefinition } from './compile.ts';

type Steps = readonly object[];

const simple = (reference: string, more: object = {}) => ({
  name: 'work',
  taskReferenceName: reference,
  ...more,
});
const fork = (...branches: readonly Steps[]) => ({
  taskReferenceName: 'fork',
  type: 'FORK_JOIN',
  forkTasks: branches,
});
const join = (more: object = {}) => ({ taskReferenceName: 'join', type: 'JOIN', ...more });
const terminate = (more: object = {}) => ({
  taskReferenceName: 'end',
  type: 'TERMINATE',
  inputParameters: { terminationStatus: 'COMPLETED' },
  ...more,
});
const loop = (...body: Steps) => ({
  taskReferenceName: 'loop',
  type: 'DO_WHILE',
  items: [1],
  loopOver: body,
});
const using = (text: string) => [simple('a'), simple('b', { inputParameters: { text } })];

/** A SWITCH in a SWITCH, this deep. */
function nested(depth: number): object {
  const inside = depth === 1 ? simple('inner') : nested(depth - 1);
  const decisionCases = { yes: [inside] };
  const inputParameters = { which: 'yes' };
  const type = 'SWITCH';
  return {
    ...{ taskReferenceName: `s${depth}`, type, expression: 'which' },
    ...{ inputParameters, decisionCases },
  };
}

const REFUSED: readonly [name: string, steps: Steps, path: string, code: string][] = [
  ['a step behind a TERMINATE', [terminate(), simple('a')], '/tasks/1', 'unreachable_step'],
  ['a fork without a join', [fork([simple('a')]), simple('b')], '/tasks/0', 'fork_without_join'],
  ['a fork at the end', [fork([simple('a')])], '/tasks/0', 'fork_without_join'],
  ['a join without a fork', [simple('a'), join()], '/tasks/1', 'join_without_fork'],
  ['a join at the start', [join()], '/tasks/0', 'join_without_fork'],
  ['an empty branch', [fork([simple('a')], []), join()], '/tasks/0/forkTasks/1', 'empty_branch'],
  [
    'a join on a step outside of the branches',
    [simple('a'), fork([simple('b')]), join({ joinOn: ['a'] })],
    '/tasks/2/joinOn/0',
    'join_member_unknown',
  ],
  [
    'a join in a loop that leaves a branch open',
    [loop(fork([simple('a')], [simple('b')]), join({ joinOn: ['a'] }))],
    '/tasks/0/loopOver/1/joinOn',
    'open_branch',
  ],
  [
    'a reference twice',
    [simple('a'), fork([simple('a')]), join()],
    '/tasks/1/forkTasks/0/0/taskReferenceName',
    'duplicate_reference',
  ],
  [
    'workflow as a reference',
    [simple('workflow')],
    '/tasks/0/taskReferenceName',
    'reference_reserved',
  ],
  ['a reference with __', [simple('a__1')], '/tasks/0/taskReferenceName', 'reference_reserved'],
  [
    'an optional TERMINATE',
    [terminate({ optional: true })],
    '/tasks/0/optional',
    'terminate_optional',
  ],
  ['an unknown type', [simple('a', { type: 'WIAT' })], '/tasks/0/type', 'unknown_type'],
  ['an unknown step', using('${c.output}'), '/tasks/1/inputParameters/text', 'unknown_reference'],
  [
    'a step that comes later',
    [simple('b', { inputParameters: { text: '${a.output}' } }), simple('a')],
    '/tasks/0/inputParameters/text',
    'reference_too_early',
  ],
  ...[
    '${a..b}',
    '${a.output[1:2]}',
    '${a.output[?(@.b)]}',
    '${a.output.${a.output}}',
    '${HOME}',
  ].map((text): [string, Steps, string, string] => [
    `the expression ${text}`,
    using(text),
    '/tasks/1/inputParameters/text',
    text === '${HOME}' ? 'unknown_reference' : 'bad_expression',
  ]),
  [
    '2,001 steps',
    Array.from({ length: 2001 }, (_, n) => simple(`s${n}`)),
    '/tasks/2000',
    'too_many_steps',
  ],
  [
    '501 branches',
    [fork(...Array.from({ length: 501 }, (_, n) => [simple(`s${n}`)])), join()],
    '/tasks/0/forkTasks',
    'too_many_steps',
  ],
];

test.each(REFUSED)('%s is refused at its place', (_, tasks, path, code) => {
  const { problems } = compileDefinition({ tasks }, testUtf8);

  expect(problems).toContainEqual({ path, code, message: expect.stringMatching(/\S/) });
});

test('steps are nested 32 deep at most', () => {
  expect(compileDefinition({ tasks: [nested(31)] }, testUtf8).problems).toBeUndefined();

  const { problems } = compileDefinition({ tasks: [nested(32)] }, testUtf8);

  expect(problems?.map(({ code }) => code)).toContain('too_deep');
});

test('every problem is named at once', () => {
  const tasks = [join(), terminate({ optional: true }), simple('a'), simple('a')];

  const { problems } = compileDefinition({ tasks }, testUtf8);

  expect(problems?.map(({ code }) => code).sort()).toEqual([
    'duplicate_reference',
    'join_without_fork',
    'terminate_optional',
    'unreachable_step',
  ]);
});

/** What a step says of its task, in the names of Conductor; and in ours. */
const NAMES: readonly [step: object, retry: object | undefined, timeouts: object | undefined][] = [
  [{}, undefined, undefined],
  [{ retryCount: 0 }, { maxAttempts: 1 }, undefined],
  [
    { retryCount: 2, retryLogic: 'LINEAR_BACKOFF', retryDelaySeconds: 5, maxRetryDelaySeconds: 60 },
    { maxAttempts: 3, backoff: 'linear', delayMs: 5000, maxDelayMs: 60_000 },
    undefined,
  ],
  [
    { taskDefinition: { retryLogic: 'FIXED', retryDelaySeconds: 0, maxRetryDelaySeconds: 0 } },
    { backoff: 'fixed', delayMs: 0 },
    undefined,
  ],
  [
    { retryCount: 1, taskDefinition: { retryCount: 9, retryLogic: 'EXPONENTIAL_BACKOFF' } },
    { maxAttempts: 2, backoff: 'exponential' },
    undefined,
  ],
  [
    { retry: { maxAttempts: 4 }, taskDefinition: { retryCount: 9, retry: { maxAttempts: 7 } } },
    { maxAttempts: 4 },
    undefined,
  ],
  [
    {
      taskDefinition: {
        timeoutSeconds: 60,
        responseTimeoutSeconds: 10,
        pollTimeoutSeconds: 5,
        totalTimeoutSeconds: 3600,
      },
    },
    undefined,
    { runMs: 60_000, heartbeatMs: 10_000, queueMs: 5000, totalMs: 3_600_000 },
  ],
  [
    { taskDefinition: { timeoutSeconds: 0, responseTimeoutSeconds: 0, pollTimeoutSeconds: 3 } },
    undefined,
    { queueMs: 3000 },
  ],
];

test.each(NAMES)('the task of a step with %j', (step, retry, timeouts) => {
  const { program } = compileDefinition({ tasks: [simple('a', step)] }, testUtf8);

  const { task } = program?.nodes[0] ?? {};
  expect([task?.retry, task?.timeouts]).toEqual([retry, timeouts]);
});

test.each([
  [{ retryLogic: 'SOMETIMES' }, '/tasks/0/retryLogic'],
  [{ retryCount: -1 }, '/tasks/0/retryCount'],
  [{ retryCount: 1.5 }, '/tasks/0/retryCount'],
  [{ taskDefinition: { timeoutSeconds: 1e300 } }, '/tasks/0/taskDefinition/timeoutSeconds'],
  [{ startDelay: '5' }, '/tasks/0/startDelay'],
])('%j is refused by name', (step, path) => {
  const { problems } = compileDefinition({ tasks: [simple('a', step)] }, testUtf8);

  expect(problems).toEqual([
    { path, code: 'bad_field', message: expect.stringMatching(/must be/) },
  ]);
});
