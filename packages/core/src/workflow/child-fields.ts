import type { Outline } from './outline.ts';
import { isObject, type Place, type Problems } from './problems.ts';

type Fields = Readonly<Record<string, unknown>>;

const WORKFLOW_NAME = /^[A-Za-z0-9._:-]{1,128}$/;
const NAME_FORM = 'letters, digits and . _ : - and at most 128 of them';
/** The largest version of a workflow. */
const VERSION_MAX = 999_999_999;
const CORRELATION_MAX = 256;

/** Which workflow a step runs, as a value or as templates of it. */
export interface ChildFields {
  readonly which: Fields;
  /** Stands in the definition of the step. */
  readonly definition: unknown;
}

/** Reads the `subWorkflowParam` of a SUB_WORKFLOW. */
export function childFields(step: Outline, problems: Problems): ChildFields {
  const path = `${step.path}/subWorkflowParam`;
  const param = step.value.subWorkflowParam;
  if (!isObject(param)) {
    const what = 'a SUB_WORKFLOW needs subWorkflowParam: an object with the name of a workflow';
    problems.add(path, 'missing_field', what);
    return { which: {}, definition: undefined };
  }
  const definition = param.workflowDefinition ?? undefined;
  if (definition !== undefined && !isObject(definition)) {
    const what = 'workflowDefinition must be a definition: an object with tasks';
    problems.add(`${path}/workflowDefinition`, 'bad_field', what);
    return { which: {}, definition: undefined };
  }
  const { name = definition?.name ?? step.value.name, version = null } = param;
  checkWhich({ name, version }, path, problems);
  return { which: { name, version }, definition };
}

/** Checks the `startWorkflow` of a START_WORKFLOW. */
export function checkStart(step: Outline, inputs: Fields, problems: Problems): void {
  const path = `${step.path}/inputParameters/startWorkflow`;
  const { startWorkflow } = inputs;
  if (isExpression(startWorkflow)) return;
  if (!isObject(startWorkflow)) {
    const what = 'a START_WORKFLOW needs startWorkflow: an object with the name of a workflow';
    problems.add(path, 'missing_field', what);
    return;
  }
  checkWhich(startWorkflow, path, problems);
}

/** Which workflow runs after a failure, as templates; undefined without one. */
export function failureFields({ value }: Place, problems: Problems): Fields | undefined {
  const { failureWorkflow: name = null, failureWorkflowVersion: version = null } = value;
  if (name === null || name === '') return undefined;
  const stated = Object.entries({ name, version }).filter(([, field]) => !isExpression(field));
  for (const field of wrongFields(Object.fromEntries(stated))) {
    const path = field.name === 'name' ? '/failureWorkflow' : '/failureWorkflowVersion';
    problems.add(path, 'bad_field', `${path.slice(1)}: ${field.message}`);
  }
  return { name, version };
}

function checkWhich({ name, version }: Fields, path: string, problems: Problems): void {
  const fields = { name, version };
  const stated = Object.entries(fields).filter(([, value]) => !isExpression(value));
  for (const field of wrongFields(Object.fromEntries(stated))) {
    const code = name === undefined ? 'missing_field' : 'bad_field';
    problems.add(`${path}/${field.name}`, code, field.message);
  }
}

interface WrongField {
  readonly name: string;
  readonly message: string;
}

/** Which of these fields cannot name a workflow. Fields that are absent are not looked at. */
export function wrongFields(fields: Fields): WrongField[] {
  const found: WrongField[] = [];
  if ('name' in fields && !(typeof fields.name === 'string' && WORKFLOW_NAME.test(fields.name))) {
    const message = `name must be the name of a workflow: ${NAME_FORM}`;
    found.push({ name: 'name', message });
  }
  const version = fields.version ?? 1;
  const isVersion = Number.isInteger(version) && Number(version) >= 1;
  if (!isVersion || Number(version) > VERSION_MAX) {
    const message = `version must be a whole number from 1 to ${VERSION_MAX}`;
    found.push({ name: 'version', message });
  }
  const id = fields.correlationId ?? '-';
  if (typeof id !== 'string' || id === '' || id.length > CORRELATION_MAX) {
    const message = `correlationId must be a text of 1 to ${CORRELATION_MAX} characters`;
    found.push({ name: 'correlationId', message });
  }
  return found;
}

export function isExpression(value: unknown): boolean {
  return typeof value === 'string' && value.includes('${');
}
