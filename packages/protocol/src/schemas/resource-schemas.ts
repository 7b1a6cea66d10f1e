import { type Static, Type } from 'typebox';
import { LIMITS } from '../base/limits.ts';

function amount(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: LIMITS.resourceMax, description }));
}

const Fraction = {
  minimum: 0,
  maximum: LIMITS.resourceMax,
  documented: { multipleOf: 0.001 },
};

/** What a task needs. A worker's capacity has the same fields, and other defaults. */
const FIELDS = {
  cpu: Type.Optional(
    Type.Number({ ...Fraction, description: 'Cores, with up to three decimals.' }),
  ),
  memoryMb: amount('Memory in MB.'),
  diskMb: amount('Disk space in MB.'),
  gpu: amount('Whole GPUs.'),
  custom: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
      Type.Number(Fraction),
      {
        maxProperties: LIMITS.customResourcesMax,
        additionalProperties: false,
        allowedNames:
          '1 to 64 letters A to Z or a to z, digits and . _ - that start with a letter or digit, ' +
          'such as licence',
        description: 'Your own kinds of resources, by name, with up to three decimals.',
      },
    ),
  ),
};

const SLOTS_MAX = { maximum: LIMITS.slotsMax };

export const TaskResources = Type.Object(
  {
    ...FIELDS,
    slots: Type.Optional(
      Type.Integer({
        ...SLOTS_MAX,
        minimum: 1,
        default: 1,
        description: 'One by default, even if other resources are given.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ cpu: 0.5, memoryMb: 512 }] },
);
export type TaskResources = Static<typeof TaskResources>;

export const Capacity = Type.Object(
  {
    ...FIELDS,
    slots: Type.Optional(
      Type.Integer({
        ...SLOTS_MAX,
        minimum: 0,
        default: LIMITS.slotsDefault,
        description: 'Total slots of the worker. With 0 it gets no new tasks.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Everything that the worker offers; it replaces the earlier capacity. If absent, cpu, ' +
      'memoryMb and diskMb are unlimited, and there is no gpu and nothing custom.',
    examples: [{ slots: 8, cpu: 8, memoryMb: 16_384 }],
  },
);
export type Capacity = Static<typeof Capacity>;

/** What is measured of a worker. */
const MEASURED_FIELDS = {
  cpu: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: LIMITS.resourceMax,
      description: 'Cores in use, on average over the last seconds.',
    }),
  ),
  memoryMb: amount('Memory in use, in MB.'),
  slots: Type.Optional(
    Type.Integer({
      ...SLOTS_MAX,
      minimum: 0,
      description: 'Slots of the tasks whose handlers run.',
    }),
  ),
};

export const MeasuredUse = Type.Object(MEASURED_FIELDS, {
  additionalProperties: false,
  description:
    'What the worker uses now, as far as it can measure it. It is shown in `GET /v1/workers`, ' +
    'is not stored, and changes nothing.',
  examples: [{ cpu: 3.2, memoryMb: 2100, slots: 5 }],
});
export type MeasuredUse = Static<typeof MeasuredUse>;

export const MeasuredView = Type.Object(
  { ...MEASURED_FIELDS, at: Type.String({ format: 'date-time' }) },
  { description: 'What the worker measured last; absent if it has measured nothing.' },
);

/** The usual spelling; the parser also takes other spaces. */
const LABEL = '[A-Za-z0-9._/-]{1,64}';
const EDGE = '[^(),=\\s\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]';
const INNER = '[^(),=\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]';
const VALUE = `${EDGE}(?:${INNER}{0,126}${EDGE})?`;
export const CONSTRAINT_PATTERN =
  `^(?:${LABEL} (?:==|!=) ${VALUE}|${LABEL} (?:in|not in) \\(${VALUE}(?:, ${VALUE}){0,3}\\)` +
  `|exists ${LABEL})$`;

export const Constraints = Type.Array(
  Type.String({ documented: { pattern: CONSTRAINT_PATTERN } }),
  {
    maxItems: LIMITS.constraintsMax,
    description:
      'Conditions that the labels of a worker must all meet: label == value, label != value, ' +
      'label in (a, b), label not in (a, b), exists label. A worker without the label meets != ' +
      'and not in.',
    examples: [['zone == eu', 'exists ssd']],
  },
);

export const Placement = Type.Union([Type.Literal('spread'), Type.Literal('pack')], {
  description:
    'Which worker with room gets it: `spread` loads all equally, `pack` fills one worker after ' +
    'the other, so that room for large tasks is left. Default: the setting of the server.',
});

export const Labels = Type.Record(Type.String(), Type.String(), {
  maxProperties: LIMITS.labelsMax,
  description: 'Labels for the constraints of tasks.',
  examples: [{ zone: 'eu' }],
  // Code checks them: it says which label is wrong, and why no constraint could name it.
  documented: {
    patternProperties: { [`^${LABEL}$`]: { type: 'string', pattern: `^${VALUE}$` } },
    additionalProperties: false,
  },
});
