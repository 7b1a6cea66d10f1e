import {
  CancelRequest,
  CancelTasksRequest,
  DeadLetterQuery,
  DiscardRequest,
  EventQuery,
  FailRequest,
  FailStepRequest,
  GetTasksRequest,
  ListQuery,
  RedriveRequest,
  RetryRequest,
  RetryTasksRequest,
  RunListQuery,
  RunRequest,
  ScheduleRequest,
  SignalRequest,
  StepOptions,
  TaskDefinition,
  TaskListQuery,
  TaskPatch,
  TaskRequest,
  TypeParams,
  VersionParams,
  WorkflowParams,
} from '@sluice/protocol';
import { expect, test } from 'vitest';

/** Documentation fields, which are no rules. */
const NO_RULES = ['description', 'default', 'examples', 'documented'];

test('request-schemas.json has the rules of the server; -u writes it anew', async () => {
  // A definition is checked as a whole.
  const { definition: _, ...fields } = RunRequest.properties;
  const withoutDefinition = { ...RunRequest, properties: fields };
  const schemas = {
    CancelRequest,
    CancelTasksRequest,
    DeadLetterQuery,
    DiscardRequest,
    EventQuery,
    FailRequest,
    FailStepRequest,
    GetTasksRequest,
    ListQuery,
    RedriveRequest,
    RetryRequest,
    RetryTasksRequest,
    RunListQuery,
    RunRequest: withoutDefinition,
    ScheduleRequest,
    SignalRequest,
    StepOptions,
    TaskDefinition,
    TaskListQuery,
    TaskPatch,
    TaskRequest,
    TypeParams,
    VersionParams,
    WorkflowParams,
  };
  const isRule = (name: string) => !NO_RULES.includes(name);
  const text = JSON.stringify(
    schemas,
    (name, value: unknown) => (isRule(name) ? value : undefined),
    1,
  );

  await expect(`${text}\n`).toMatchFileSnapshot('request-schemas.json');
});
