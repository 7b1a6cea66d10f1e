import type { ErrorDetail } from '@sluice/protocol';
import { expect, test } from 'vitest';
import { checkedDefinition, definitionWarnings } from './definition-check.ts';

function problemsOf(definition: object): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  checkedDefinition(definition, '', problems);
  return problems;
}

const step = (more: object) => ({ name: 'a', taskReferenceName: 'one', ...more });
const wait = (inputParameters: object) => ({
  taskReferenceName: 'wait',
  type: 'WAIT',
  inputParameters,
});

test.each([
  [step({ inputParamters: {} }), '/tasks/0/inputParamters', 'inputParameters'],
  [step({ Optional: true }), '/tasks/0/Optional', 'optional'],
  [step({ start_delay: 1 }), '/tasks/0/start_delay', 'startDelay'],
  [step({ retrycount: 1 }), '/tasks/0/retrycount', 'retryCount'],
  [step({ taskDefinition: { retryCont: 1 } }), '/tasks/0/taskDefinition/retryCont', 'retryCount'],
  [wait({ duraton: '1 hour' }), '/tasks/0/inputParameters/duraton', 'duration'],
])('a misspelled field is a problem with a suggestion (%#)', (task, path, meant) => {
  const problem = expect.stringContaining(`did you mean "${meant}"?`);

  expect(problemsOf({ tasks: [task] })).toEqual([{ path, problem, code: 'unknown_field' }]);
});

test('misspelled fields of the definition itself, and of inner steps', () => {
  const loop = {
    taskReferenceName: 'loop',
    type: 'DO_WHILE',
    items: [1],
    loopOver: [step({ optinal: true })],
  };

  expect(problemsOf({ tasks: [loop], outputParameter: {} })).toMatchObject([
    { path: '/outputParameter', code: 'unknown_field' },
    { path: '/tasks/0/loopOver/0/optinal', code: 'unknown_field' },
  ]);
});

test('other unknown fields are allowed, with a warning', () => {
  const definition = {
    team: 'video',
    'x-tasks': 1,
    _task: 1,
    ownerEmail: 'a@b.example',
    tasks: [step({ note: 'a name', inputParameters: { inputParamters: 1 } }), wait({ why: 1 })],
  };

  expect(problemsOf(definition)).toEqual([]);
  expect(definitionWarnings(definition)).toEqual([
    { path: '/team', message: '"team" is no known field and has no effect' },
    { path: '/tasks/0/note', message: '"note" is no known field and has no effect' },
  ]);
});
