import { type Static, Type } from 'typebox';
import { LIMITS } from '../base/limits.ts';
import { Constraints, Placement, TaskResources } from './resource-schemas.ts';
import { Retry, Tags, Timeouts } from './task-schemas.ts';

export const WorkflowName = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
  allowed:
    '1 to 128 letters A to Z or a to z, digits and . _ : - without spaces, such as transcode-video',
  description: 'Name of a workflow: letters, digits and . _ : - , at most 128.',
  examples: ['transcode-video'],
});

export const WorkflowVersion = Type.Integer({ minimum: 1, maximum: LIMITS.workflowVersionMax });

export const WorkflowParams = Type.Object({ name: WorkflowName });
export type WorkflowParams = Static<typeof WorkflowParams>;

export const VersionParams = Type.Object({ name: WorkflowName, version: WorkflowVersion });
export type VersionParams = Static<typeof VersionParams>;

/**
 * A definition is checked as a whole by the core, which lists every problem. Unknown fields are
 * kept and ignored, unless one is nearly a known one.
 */
export const WorkflowDefinition = Type.Object(
  {
    tasks: Type.Array(Type.Object({}, { additionalProperties: true }), {
      minItems: 1,
      description:
        'The steps, in order: taskReferenceName, type (SIMPLE by default; the page "Steps of ' +
        'workflows" lists all), name, inputParameters and the fields of the type.',
    }),
    inputTemplate: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Defaults of input fields.' }),
    ),
    outputParameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The output of a run; by default the output of its last step.',
      }),
    ),
    inputSchema: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'A JSON Schema. A run whose input does not fit is refused.',
      }),
    ),
    outputSchema: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'A JSON Schema. A run whose output does not fit fails.',
      }),
    ),
    enforceSchema: Type.Optional(
      Type.Boolean({ description: 'With false the schemas have no effect.' }),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Variables at the start.' }),
    ),
    timeoutSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3_155_760_000,
        description: 'A run that takes longer ends as timed_out.',
      }),
    ),
    failureWorkflow: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: 'A workflow that is started when a run fails or times out.',
      }),
    ),
    failureWorkflowVersion: Type.Optional(
      Type.Unsafe<number>({ ...WorkflowVersion, description: 'Default: the newest one.' }),
    ),
    callback: Type.Optional(
      Type.Unsafe<object>({
        type: 'object',
        description: 'Called when a run ends: url, on (a list of ends) and secret.',
        examples: [{ url: 'https://example.com/hook', on: ['failed', 'timed_out'] }],
      }),
    ),
  },
  {
    additionalProperties: true,
    description: 'A definition in the form of Conductor, up to 1 MiB of JSON.',
    examples: [{ tasks: [{ name: 'probe', taskReferenceName: 'probe', type: 'SIMPLE' }] }],
  },
);

/** Options of a SIMPLE step and of its taskDefinition that have the same form as in a submit. */
export const StepOptions = Type.Object(
  {
    resources: Type.Optional(TaskResources),
    constraints: Type.Optional(Constraints),
    placement: Type.Optional(Placement),
    retry: Type.Optional(Retry),
    timeouts: Type.Optional(Timeouts),
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false },
);
export type StepOptions = Static<typeof StepOptions>;

const VERSION = {
  version: WorkflowVersion,
  hash: Type.String({ description: 'SHA-256 of the definition as compact JSON, in hex.' }),
  steps: Type.Integer({ description: 'Number of steps.' }),
  registeredAt: Type.String({ format: 'date-time' }),
};

export const WorkflowView = Type.Object({
  name: WorkflowName,
  versions: Type.Array(Type.Object(VERSION), { description: 'Newest first.' }),
});

export const WorkflowVersionView = Type.Object({
  name: WorkflowName,
  ...VERSION,
  definition: WorkflowDefinition,
});

export const PutWorkflowQuery = Type.Object(
  {
    dryRun: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: 'With true the definition is checked and compared, and nothing is registered.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** What registering a version changes. */
export const WorkflowChange = Type.Object({
  name: WorkflowName,
  version: WorkflowVersion,
  hash: VERSION.hash,
  change: Type.Union([Type.Literal('new'), Type.Literal('changed'), Type.Literal('unchanged')], {
    description: 'Against what was registered before.',
  }),
  dryRun: Type.Boolean(),
  warnings: Type.Array(
    Type.Object({
      path: Type.String({ description: 'JSON pointer into the definition.' }),
      message: Type.String(),
    }),
    { description: 'Fields that have no effect.' },
  ),
});
export type WorkflowChange = Static<typeof WorkflowChange>;
export type WorkflowView = Static<typeof WorkflowView>;
export type WorkflowVersionView = Static<typeof WorkflowVersionView>;
