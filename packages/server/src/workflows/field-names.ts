import type { ErrorDetail } from '@sluice/protocol';
import { editDistance } from '@sluice/protocol/suggestion';

/**
 * Names of fields in definitions. A name that is almost a known one is a mistake: the field would
 * be ignored, and its author would not notice. Other unknown names are allowed, because definitions
 * of Conductor and of other tools have more fields, and they are worth a warning.
 */

/** An object of a definition, and where it is. */
export interface FieldsPlace {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly path: string;
}

/** A field without effect. */
export interface DefinitionWarning {
  readonly path: string;
  readonly message: string;
}

/** Names that Conductor has in several places, whether or not they have an effect here. */
const ANYWHERE = words(`name description ownerEmail ownerApp createTime updateTime createdBy
  updatedBy inputTemplate inputSchema outputSchema enforceSchema timeoutSeconds timeoutPolicy tags
  overwriteTags accessPolicy metadata`);

const OF_DEFINITION = new Set([
  ...ANYWHERE,
  ...words(`version tasks inputParameters outputParameters variables failureWorkflow
    failureWorkflowVersion restartable schemaVersion workflowStatusListenerEnabled workflowStatusListenerSink maskedFields
    rateLimitConfig cacheConfig callback`),
]);

const OF_TASK = words(`retryCount retryLogic retryDelaySeconds maxRetryDelaySeconds
  responseTimeoutSeconds pollTimeoutSeconds totalTimeoutSeconds backoffScaleFactor inputKeys
  outputKeys concurrentExecLimit rateLimitPerFrequency rateLimitFrequencyInSeconds isolationGroupId
  executionNameSpace baseType resources constraints placement retry timeouts callback`);

const OF_TASK_DEFINITION = new Set([...ANYWHERE, ...OF_TASK]);

const OF_STEP = new Set([
  ...ANYWHERE,
  ...OF_TASK,
  ...words(`taskReferenceName type inputParameters optional permissive startDelay asyncComplete
    taskDefinition forkTasks joinOn joinStatus joinMode decisionCases defaultCase expression
    evaluatorType caseValueParam caseExpression scriptExpression loopOver loopCondition items
    subWorkflowParam dynamicTaskNameParam dynamicForkTasksParam dynamicForkTasksInputParamName
    dynamicForkJoinTasksParam defaultExclusiveJoinTask sink rateLimited workflowTaskType
    cacheConfig onStateChange exec`),
]);

/** Inputs with a meaning. A step may have others. */
const INPUTS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['WAIT', new Set(['duration', 'until'])],
  ['TERMINATE', new Set(['terminationStatus', 'terminationReason', 'workflowOutput'])],
  ['DO_WHILE', new Set(['keepLastN'])],
  ['INLINE', new Set(['expression', 'evaluatorType'])],
  ['START_WORKFLOW', new Set(['startWorkflow'])],
  [
    'HTTP',
    new Set(
      words(`http_request uri url method headers body accept contentType connectionTimeOut
        readTimeOut asyncComplete`),
    ),
  ],
  ['JSON_JQ_TRANSFORM', new Set(['queryExpression'])],
]);

/** What is written by a tool on purpose. */
const PRIVATE = /^(?:x-|[_$@#])/;

const LETTERS_MAX = 2;

/** Unknown names that are looked at: comparing them takes time. */
const NAMES_MAX = 200;

/** Adds a problem for each name that is nearly a known one. */
export function checkFieldNames(
  definition: FieldsPlace,
  steps: Iterable<FieldsPlace>,
  problems: ErrorDetail[],
): void {
  for (const { path, name, known } of unknownFields(definition, steps)) {
    const meant = nearest(name, known);
    if (meant === undefined) continue;
    const problem = `"${name}" is no field of it; did you mean "${meant}"?`;
    problems.push({ path, problem, code: 'unknown_field' });
  }
}

/** A warning for each other unknown name. */
export function fieldWarnings(
  definition: FieldsPlace,
  steps: Iterable<FieldsPlace>,
): DefinitionWarning[] {
  const unknown = unknownFields(definition, steps)
    .filter(({ isFree }) => !isFree)
    .map(({ path, name }) => ({ path, message: `"${name}" is no known field and has no effect` }));
  return [...unknown, ...policyWarnings(steps)].slice(0, NAMES_MAX);
}

/** What Conductor does at the time-out of a task, apart from a retry, does not happen here. */
function policyWarnings(steps: Iterable<FieldsPlace>): DefinitionWarning[] {
  return [...steps].flatMap(({ fields, path }) => {
    const { timeoutPolicy } = fieldsOf(fields.taskDefinition);
    if (timeoutPolicy === undefined || timeoutPolicy === 'RETRY') return [];
    const message = 'a task that is late is always retried; another timeoutPolicy has no effect';
    return [{ path: `${path}/taskDefinition/timeoutPolicy`, message }];
  });
}

interface UnknownField {
  readonly path: string;
  readonly name: string;
  readonly known: ReadonlySet<string>;
  /** Other names are the author's own. */
  readonly isFree: boolean;
}

function unknownFields(definition: FieldsPlace, steps: Iterable<FieldsPlace>): UnknownField[] {
  const found: UnknownField[] = [];
  for (const each of allUnknownFields(definition, steps)) {
    if (found.push(each) === NAMES_MAX) break;
  }
  return found;
}

function* allUnknownFields(
  definition: FieldsPlace,
  steps: Iterable<FieldsPlace>,
): Iterable<UnknownField> {
  yield* unknownIn(definition, OF_DEFINITION);
  for (const step of steps) {
    yield* unknownIn(step, OF_STEP);
    const { taskDefinition, inputParameters, type } = step.fields;
    const inner = { fields: fieldsOf(taskDefinition), path: `${step.path}/taskDefinition` };
    yield* unknownIn(inner, OF_TASK_DEFINITION);
    const inputs = INPUTS.get(type);
    if (inputs === undefined) continue;
    const given = { fields: fieldsOf(inputParameters), path: `${step.path}/inputParameters` };
    yield* unknownIn(given, inputs, true);
  }
}

function* unknownIn(
  { fields, path }: FieldsPlace,
  known: ReadonlySet<string>,
  isFree = false,
): Iterable<UnknownField> {
  for (const name of Object.keys(fields)) {
    if (known.has(name) || PRIVATE.test(name)) continue;
    yield { path: `${path}/${pointerOf(name)}`, name, known, isFree };
  }
}

/** One letter in three may be wrong, and two in all; capitals and `_` do not count. */
function nearest(name: string, known: ReadonlySet<string>): string | undefined {
  const said = plain(name);
  const most = Math.min(LETTERS_MAX, Math.floor(said.length / 3));
  let best: string | undefined;
  let fewest = most + 1;
  for (const each of known) {
    const wanted = plain(each);
    if (Math.abs(wanted.length - said.length) >= fewest) continue;
    const distance = editDistance(said, wanted);
    if (distance >= fewest) continue;
    best = each;
    fewest = distance;
  }
  return best;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

function words(text: string): string[] {
  return text.split(/\s+/);
}

function fieldsOf(value: unknown): FieldsPlace['fields'] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as FieldsPlace['fields']) : {};
}

function pointerOf(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
