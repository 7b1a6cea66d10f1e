/** A reason to refuse a body that JSON Schema cannot say, or that the document leaves to a page. */
export interface Beyond {
  readonly operation: string;
  readonly why: string;
  readonly code: string;
  readonly path: RegExp;
  readonly problem: RegExp;
  /** A body that the schema allows, and that is refused for this reason alone. */
  readonly example: unknown;
}

const LONG_VALUE = '😀'.repeat(100);
const FAST = { spec: { everyMs: 1000 }, task: { type: 'a' } };

const DEPTH = 2000;
const DEEP = JSON.parse('['.repeat(DEPTH) + ']'.repeat(DEPTH)) as unknown;

function invalid(
  operation: string,
  why: string,
  { path, problem, example }: Pick<Beyond, 'path' | 'problem' | 'example'>,
): Beyond {
  return { operation, why, code: 'invalid_request', path, problem, example };
}

/** In a task, and in what holds one. */
function ofTasks(operation: string, holding: (task: object) => unknown): Beyond[] {
  return [
    invalid(operation, 'ports have a maximum', {
      path: /\/callback\/url$/,
      problem: /^must be an absolute http or https URL$/,
      example: holding({ callback: { url: 'http://a:99999/', on: ['failed'] } }),
    }),
    invalid(operation, 'characters after the first 65,536 count twice in constraints', {
      path: /\/constraints\/\d+$/,
      problem: /a value has 1 to 128 characters/,
      example: holding({ constraints: [`zone == ${LONG_VALUE}`] }),
    }),
    invalid(operation, 'a delay is at most the longest delay', {
      path: /\/retry\/delayMs$/,
      problem: /cannot be more than maxDelayMs/,
      example: holding({ retry: { delayMs: 2, maxDelayMs: 1 } }),
    }),
  ];
}

export const BEYOND: readonly Beyond[] = [
  ...ofTasks('submitTasks', (task) => ({ type: 'a', ...task })),
  ...ofTasks('putTaskType', (task) => task),
  ...ofTasks('putSchedule', (task) => ({ ...FAST, task: { type: 'a', ...task } })),
  invalid('submitTasks', 'the depth of values has a maximum', {
    path: /^\/input$/,
    problem: /^is nested too deeply/,
    example: { type: 'a', input: DEEP },
  }),
  invalid('submitTasks', 'half of a surrogate pair is not a character', {
    path: /^\/tags\/a$/,
    problem: /^has half of a surrogate pair/,
    example: { type: 'a', tags: { a: '\ud800' } },
  }),
  invalid('openWorkerSession', 'a type is offered once', {
    path: /^\/types\/\d+\/type$/,
    problem: /is listed twice$/,
    example: { name: 'w', types: [{ type: 'a' }, { type: 'a', concurrency: 1 }] },
  }),
  invalid('openWorkerSession', 'characters after the first 65,536 count twice in labels', {
    path: /^\/labels\//,
    problem: /^a value has 1 to 128 characters/,
    example: { name: 'w', types: [{ type: 'a' }], labels: { zone: LONG_VALUE } },
  }),
  invalid('reportAttempts', 'a type is offered once', {
    path: /^\/types\/\d+\/type$/,
    problem: /is listed twice$/,
    example: { types: [{ type: 'a' }, { type: 'a', concurrency: 1 }] },
  }),
  invalid('putSchedule', 'a schedule has a time to come', {
    path: /^\/spec$/,
    problem: /^has no time from now on/,
    example: { ...FAST, spec: { at: 2 }, window: { to: 1 } },
  }),
  invalid('putSchedule', 'cron has a syntax', {
    path: /^\/spec\/cron$/,
    problem: /^cannot be read: /,
    example: { ...FAST, spec: { cron: 'now' } },
  }),
  invalid('putSchedule', 'time zones have names', {
    path: /^\/spec\/timeZone$/,
    problem: /is not a time zone/,
    example: { ...FAST, spec: { cron: '@daily', timeZone: 'here' } },
  }),
  invalid('putSchedule', 'a window begins before it ends', {
    path: /^\/window\/to$/,
    problem: /^is before window.from$/,
    example: { ...FAST, window: { from: 2, to: 1 } },
  }),
  invalid('putSchedule', 'a delay is shorter than the period', {
    path: /^\/jitterMs$/,
    problem: /^is not below spec.everyMs$/,
    example: { ...FAST, jitterMs: 1000 },
  }),
  invalid('patchSchedule', 'the result of a merge patch is checked, not the patch', {
    path: /^\//,
    problem: /./,
    example: { spec: { everyMs: 'often' } },
  }),
  invalid('backfillSchedule', 'a backfill is for times that are over', {
    path: /^\/to$/,
    problem: /is in the future/,
    example: { from: 1, to: '9999-01-01T00:00:00Z' },
  }),
  invalid('backfillSchedule', 'a backfill begins before it ends', {
    path: /^\/to$/,
    problem: /before/,
    example: { from: 2, to: 1 },
  }),
  ...['putWorkflowVersion', 'startRuns'].map((operation) => {
    const definition = { tasks: [{}] };
    return {
      operation,
      why: 'definitions have a page of rules, and are compiled',
      code: 'invalid_definition',
      path: /./,
      problem: /./,
      example: operation === 'startRuns' ? { workflow: 'a', definition } : definition,
    };
  }),
];
