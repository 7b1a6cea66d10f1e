import { type Static, Type } from 'typebox';
import { notTogether } from '../base/documented.ts';
import { LIMITS } from '../base/limits.ts';
import { literals } from '../base/literals.ts';
import { BlobHash } from './blob-schemas.ts';
import { RunId } from './id-schemas.ts';
import { Explanation, ListQuery, pageOf, requestKey } from './task-operation-schemas.ts';
import { GivenTime, Priority, Tags } from './task-schemas.ts';
import { TaskError, Time } from './task-view-schemas.ts';
import { WorkflowDefinition, WorkflowName, WorkflowVersion } from './workflow-schemas.ts';

const CorrelationId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Your own id for what the run is about. Runs are found by it.',
});

export const RunRequest = Type.Object(
  {
    workflow: WorkflowName,
    version: Type.Optional(
      Type.Unsafe<number>({ ...WorkflowVersion, description: 'Default: the newest one.' }),
    ),
    definition: Type.Optional(
      Type.Unsafe<object>({
        ...WorkflowDefinition,
        description: 'A definition for this run, which need not be registered.',
      }),
    ),
    input: Type.Optional(
      Type.Unknown({ description: 'Any JSON up to 256 KiB. Numbers are doubles. Default null.' }),
    ),
    priority: Type.Optional(Priority),
    dedupeKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'A second start of this workflow with this key and the same input returns the same run.',
      }),
    ),
    dedupeWindowMs: Type.Optional(
      Type.Integer({
        minimum: LIMITS.dedupeWindowMsMin,
        maximum: LIMITS.dedupeWindowMsMax,
        default: LIMITS.dedupeWindowMsDefault,
        description: 'How long the key is stored, from the first start.',
      }),
    ),
    correlationId: Type.Optional(CorrelationId),
    tags: Type.Optional(Tags),
  },
  {
    additionalProperties: false,
    examples: [{ workflow: 'transcode-video', input: { url: 'https://example.com/a.mp4' } }],
    documented: {
      ...notTogether(['version', 'definition']),
      dependentRequired: { dedupeWindowMs: ['dedupeKey'] },
    },
  },
);
export type RunRequest = Static<typeof RunRequest>;

export const RunRequests = Type.Array(RunRequest, { minItems: 1, maxItems: LIMITS.batchRunsMax });

export const StartQuery = Type.Object(
  {
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.waitMsMax,
        description: 'Answer with the whole run when it ends or after this time. Single run only.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const RunStatus = literals([
  'running',
  'paused',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
]);

export const StartedRun = Type.Object({
  id: Type.String({ examples: ['r_01k7f6b1oj0000000001'] }),
  status: RunStatus,
  deduplicated: Type.Boolean(),
});

export const StartedRuns = Type.Object({ items: Type.Array(StartedRun) });

export const StepState = literals(
  [
    'pending',
    'running',
    'succeeded',
    'completed_with_errors',
    'failed',
    'timed_out',
    'skipped',
    'cancelled',
  ],
  {
    description:
      'skipped: the run has ended without this step, because its case was not taken or the run ' +
      'did not get there.',
  },
);

const Output = {
  output: Type.Optional(Type.Unknown({ description: 'Absent if it is a blob.' })),
  outputBlob: Type.Optional(BlobHash),
};

export const RunError = Type.Object({
  message: Type.String(),
  code: Type.String({ description: 'The same as `reason`.' }),
  step: Type.Optional(Type.String({ description: 'Reference of the step that decided it.' })),
  failureRunId: Type.Optional(Type.String({ description: 'The run of its failureWorkflow.' })),
  failureProblem: Type.Optional(
    Type.String({ description: 'Why its failureWorkflow did not start.' }),
  ),
});

export const StepView = Type.Object({
  reference: Type.String(),
  type: Type.String({ description: 'Type of the step, such as SIMPLE.' }),
  name: Type.String({ description: 'Task type of a SIMPLE step.' }),
  state: StepState,
  reason: Type.String({ description: 'Why it ended so; empty where the state says it all.' }),
  attempt: Type.Integer({ description: 'Attempts of its task so far.' }),
  taskId: Type.Union([Type.String(), Type.Null()]),
  childRunId: Type.Union([Type.String(), Type.Null()], {
    description: 'The run that a SUB_WORKFLOW or a START_WORKFLOW started.',
  }),
  startedAt: Time,
  endedAt: Time,
  input: Type.Optional(Type.Unknown({ description: 'Input of its task. Absent if it is a blob.' })),
  inputBlob: Type.Optional(BlobHash),
  ...Output,
  error: Type.Union([TaskError, Type.Null()], { description: 'Error of its task.' }),
});

/** The run that started another one. */
const RunParent = Type.Object({
  runId: Type.String(),
  step: Type.Union([Type.String(), Type.Null()], {
    description: 'Reference of the step that started it; null if it is a failure workflow.',
  }),
  relation: literals(['sub_workflow', 'start_workflow', 'failure_workflow'], {
    description: 'The parent waits for a sub_workflow only.',
  }),
});

const SUMMARY = {
  id: Type.String(),
  workflow: WorkflowName,
  version: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Null for a definition that came with the run.',
  }),
  status: RunStatus,
  endingAs: Type.Optional(
    Type.Unsafe<string>({
      ...RunStatus,
      description: 'How a running run will end, once its tasks have stopped.',
    }),
  ),
  reason: Type.String({ description: 'Why it ended so; empty where the status says it all.' }),
  priority: Type.Integer(),
  correlationId: Type.Union([Type.String(), Type.Null()]),
  parent: Type.Union([RunParent, Type.Null()], { description: 'The run that started it.' }),
  tags: Tags,
  startedAt: Time,
  endedAt: Time,
  counts: Type.Record(Type.String(), Type.Integer(), { description: 'Steps by state.' }),
  input: Type.Optional(Type.Unknown()),
  inputBlob: Type.Optional(BlobHash),
  ...Output,
  error: Type.Union([RunError, Type.Null()]),
};

/** A run in a list. */
export const RunSummary = Type.Object(SUMMARY);

export const RunView = Type.Object({
  ...SUMMARY,
  variables: Type.Unknown(),
  steps: Type.Array(StepView, {
    description:
      'In the order of the definition: at most 1,000, and at most 1 MiB of payloads. The output ' +
      'of a JOIN is not repeated: see the steps that it waits for.',
  }),
  stepsCursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Cursor of GET /v1/runs/{id}/steps for the steps that are not shown, or null.',
  }),
});

export const RunDefinition = Type.Object({
  workflow: WorkflowName,
  version: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Null for a definition that came with the run.',
  }),
  definition: WorkflowDefinition,
});

export const RunHistory = Type.Object({
  items: Type.Array(
    Type.Object({
      at: Time,
      step: Type.Union([Type.String(), Type.Null()], {
        description: 'Reference of the step; null for a change of the run itself.',
      }),
      type: Type.Union([Type.String(), Type.Null()], { description: 'Type of the step.' }),
      state: Type.String({ description: 'The state of the run or of the step from then on.' }),
      taskId: Type.Union([Type.String(), Type.Null()]),
    }),
    { description: 'Oldest first. If there are more than 2,000, only the newest.' },
  ),
});

const RunReasonCode = literals([
  'finished',
  'paused',
  'stopping',
  'task_running',
  'task_waiting',
  'time',
  'call',
  'script',
  'child',
  'callback',
  'due',
  'no_room',
]);

export const RunExplanation = Type.Object({
  running: Type.Boolean({
    description: 'Whether the run goes on without a call: it needs only time, workers or scripts.',
  }),
  reasons: Type.Array(
    Type.Object({
      code: RunReasonCode,
      message: Type.String(),
      step: Type.Optional(Type.String({ description: 'Reference of the step.' })),
      taskId: Type.Optional(Type.String()),
      childRunId: Type.Optional(Type.String({ description: 'The run that the step waits for.' })),
      task: Type.Optional(
        Type.Unsafe<Static<typeof Explanation>>({
          ...Explanation,
          description: 'Why its task is not running, for each worker.',
        }),
      ),
    }),
  ),
  stepsNotShown: Type.Integer({ description: 'Further steps that the run waits for.' }),
});
export type RunExplanation = Static<typeof RunExplanation>;

export const RunParams = Type.Object({ id: RunId });
export type RunParams = Static<typeof RunParams>;

/** A step of a run. A step of a loop has the number of its iteration in its name. */
export const RunStepParams = Type.Object({
  id: RunId,
  step: Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'Reference of the step. In a loop `ref__2` is the second iteration, and `ref` the newest.',
    examples: ['approve'],
  }),
});
export type RunStepParams = Static<typeof RunStepParams>;

const StepKey = requestKey(
  'A repeated request with the same key changes nothing and gets the run, even if a loop has ' +
    'begun the step again since.',
);

export const CompleteStepRequest = Type.Object(
  {
    output: Type.Optional(Type.Unknown({ description: 'Any JSON up to 256 KiB. Default null.' })),
    key: StepKey,
  },
  { additionalProperties: false, examples: [{ output: { approved: true } }] },
);
export type CompleteStepRequest = Static<typeof CompleteStepRequest>;

export const RerunRequest = Type.Object(
  {
    fromStep: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Reference of the step to begin with. In a loop it means the newest iteration.',
      examples: ['render'],
    }),
    input: Type.Optional(
      Type.Unknown({ description: 'Replaces the input of that step. Any JSON up to 256 KiB.' }),
    ),
  },
  { additionalProperties: false, examples: [{ fromStep: 'render', input: { width: 640 } }] },
);
export type RerunRequest = Static<typeof RerunRequest>;

export const FailStepRequest = Type.Object(
  { error: TaskError, key: StepKey },
  { additionalProperties: false, examples: [{ error: { message: 'not approved' } }] },
);
export type FailStepRequest = Static<typeof FailStepRequest>;

export const RunListQuery = Type.Object(
  {
    ...ListQuery.properties,
    workflow: Type.Optional(WorkflowName),
    status: Type.Optional(RunStatus),
    correlationId: Type.Optional(CorrelationId),
    since: Type.Optional(GivenTime),
    until: Type.Optional(GivenTime),
  },
  { additionalProperties: false, description: 'Filter by a tag with tag.NAME=VALUE.' },
);
export type RunListQuery = Static<typeof RunListQuery>;

export const RunPage = pageOf(RunSummary);
export const StepPage = pageOf(StepView);
export type RunSummary = Static<typeof RunSummary>;
export type RunView = Static<typeof RunView>;
export type StepView = Static<typeof StepView>;
export type StartedRun = Static<typeof StartedRun>;
