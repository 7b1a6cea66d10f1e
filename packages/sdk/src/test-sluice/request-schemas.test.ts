import {
  CancelRequest,
  CancelTasksRequest,
  DeadLetterQuery,
  DiscardRequest,
  EventQuery,
  FailRequest,
  GetTasksRequest,
  ListQuery,
  RedriveRequest,
  RetryRequest,
  SignalRequest,
  TaskDefinition,
  TaskListQuery,
  TaskPatch,
  TaskRequest,
  TypeParams,
} from '@sluice/protocol';
import { expect, test } from 'vitest';

/** Documentation fields, which are no rules. */
const NO_RULES = ['description', 'default', 'examples', 'documented'];

test('request-schemas.json has the rules of the server; -u writes it anew', async () => {
  const schemas = {
    CancelRequest,
    CancelTasksRequest,
    DeadLetterQuery,
    DiscardRequest,
    EventQuery,
    FailRequest,
    GetTasksRequest,
    ListQuery,
    RedriveRequest,
    RetryRequest,
    SignalRequest,
    TaskDefinition,
    TaskListQuery,
    TaskPatch,
    TaskRequest,
    TypeParams,
  };
  const isRule = (name: string) => !NO_RULES.includes(name);
  const text = JSON.stringify(
    schemas,
    (name, value: unknown) => (isRule(name) ? value : undefined),
    1,
  );

  await expect(`${text}\n`).toMatchFileSnapshot('request-schemas.json');
});
