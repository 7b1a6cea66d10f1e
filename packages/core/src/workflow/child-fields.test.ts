import { expect, test } from 'vitest';
import { testUtf8 } from '../testing/test-utf8.ts';
import { compileDefinition } from './compile.ts';

const sub = (more: object = {}) => ({
  taskReferenceName: 'sub',
  type: 'SUB_WORKFLOW',
  subWorkflowParam: { name: 'child' },
  ...more,
});
const start = (startWorkflow: unknown) => ({
  taskReferenceName: 'start',
  type: 'START_WORKFLOW',
  inputParameters: { startWorkflow },
});

test.each([
  [{ ...sub(), subWorkflowParam: undefined }, '/tasks/0/subWorkflowParam', 'missing_field'],
  [sub({ subWorkflowParam: {} }), '/tasks/0/subWorkflowParam/name', 'missing_field'],
  [sub({ subWorkflowParam: { name: 'a b' } }), '/tasks/0/subWorkflowParam/name', 'bad_field'],
  [
    sub({ subWorkflowParam: { name: 'a', version: 0 } }),
    '/tasks/0/subWorkflowParam/version',
    'bad_field',
  ],
  [
    sub({ subWorkflowParam: { name: 'a', workflowDefinition: '${workflow.input}' } }),
    '/tasks/0/subWorkflowParam/workflowDefinition',
    'bad_field',
  ],
  [
    sub({ subWorkflowParam: { name: 'a', workflowDefinition: { tasks: [{ type: 'NO' }] } } }),
    '/tasks/0/subWorkflowParam/workflowDefinition/tasks/0/taskReferenceName',
    'missing_field',
  ],
  [
    sub({ subWorkflowParam: { name: '${none.output}' } }),
    '/tasks/0/subWorkflowParam/name',
    'unknown_reference',
  ],
  [start(undefined), '/tasks/0/inputParameters/startWorkflow', 'missing_field'],
  [start({ version: 'x' }), '/tasks/0/inputParameters/startWorkflow/version', 'missing_field'],
])('a definition with %j is refused at %s', (task, path, code) => {
  const { problems = [] } = compileDefinition({ tasks: [task] }, testUtf8);

  expect(problems).toContainEqual({ path, code, message: expect.any(String) });
});

test('START_WF and SUB_WF are other names', () => {
  const tasks = [sub({ type: 'SUB_WF' }), { ...start({ name: 'a' }), type: 'START_WF' }];

  const { program } = compileDefinition({ tasks }, testUtf8);

  expect(program?.nodes.map(({ kind }) => kind)).toEqual(['SUB_WORKFLOW', 'START_WORKFLOW']);
});
