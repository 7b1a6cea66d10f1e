import { checkStart, isExpression } from './child-fields.ts';
import { checkSink } from './event-fields.ts';
import { checkHttp } from './http-fields.ts';
import type { Outline } from './outline.ts';
import type { Problems } from './problems.ts';
import type { StepNode } from './program.ts';
import { WAIT_FORMS, waitUntil } from './wait-time.ts';

type Inputs = Readonly<Record<string, unknown>>;

interface KindFields extends Pick<StepNode, 'script' | 'decidedBy' | 'namedBy'> {
  /** What is evaluated when the step begins. */
  readonly inputs: Inputs;
}

/** Reads what only some kinds of steps have. */
export function kindFields(step: Outline, inputs: Inputs, problems: Problems): KindFields {
  const none = { script: '', decidedBy: '', namedBy: '', inputs };
  switch (step.kind) {
    case 'SWITCH':
      return { ...none, ...readSwitch(step, inputs, problems) };
    case 'INLINE':
      return { ...none, ...readInline(step, inputs, problems) };
    case 'JSON_JQ_TRANSFORM':
      return { ...none, ...readQuery(step, inputs, problems) };
    case 'DO_WHILE':
      return { ...none, ...readLoop(step, inputs, problems) };
    case 'DYNAMIC':
      return { ...none, namedBy: readDynamic(step, inputs, problems) };
    case 'TERMINATE':
      checkTerminate(step, inputs, problems);
      return none;
    case 'WAIT':
      checkWait(step, inputs, problems);
      return none;
    case 'HTTP':
      checkHttp(step, inputs, problems);
      if (!problems.flag(step, 'asyncComplete')) return none;
      // Whoever sends the request has to know.
      return { ...none, inputs: { ...inputs, asyncComplete: true } };
    case 'EVENT':
      checkSink(step, problems);
      return none;
    case 'START_WORKFLOW':
      checkStart(step, inputs, problems);
      return none;
    default:
      return none;
  }
}

/** Names of the one script language; Conductor has two. */
const SCRIPTS = ['javascript', 'graaljs'];

function readSwitch(step: Outline, inputs: Inputs, problems: Problems): Partial<KindFields> {
  const evaluator = String(step.value.evaluatorType ?? 'value-param');
  const expression = problems.text(step, 'expression');
  if (SCRIPTS.includes(evaluator)) return { script: expression };
  if (evaluator !== 'value-param') {
    const what = `evaluatorType "${evaluator}" is not supported; use value-param or javascript`;
    problems.add(`${step.path}/evaluatorType`, 'bad_field', what);
  } else if (expression !== '' && !(expression in inputs)) {
    const name = `"${expression}" is not in inputParameters`;
    const what = `with value-param, expression must be the name of an input; ${name}`;
    problems.add(`${step.path}/expression`, 'bad_expression', what);
  }
  return { decidedBy: expression };
}

/** The script is taken as it is: `${` in it is a part of the script. */
function readInline(step: Outline, inputs: Inputs, problems: Problems): Partial<KindFields> {
  const { evaluatorType = 'javascript', expression: _, ...others } = inputs;
  const place = { value: inputs, path: `${step.path}/inputParameters` };
  if (!SCRIPTS.includes(String(evaluatorType))) {
    const what = `evaluatorType "${String(evaluatorType)}" is not supported; use javascript`;
    problems.add(`${place.path}/evaluatorType`, 'bad_field', what);
  }
  return { script: problems.text(place, 'expression'), inputs: others };
}

/** The query is taken as it is. The other inputs are what it sees. */
function readQuery(step: Outline, inputs: Inputs, problems: Problems): Partial<KindFields> {
  const { queryExpression: _, ...others } = inputs;
  const place = { value: inputs, path: `${step.path}/inputParameters` };
  return { script: problems.text(place, 'queryExpression'), inputs: others };
}

function readLoop(step: Outline, inputs: Inputs, problems: Problems): Partial<KindFields> {
  const { keepLastN: _, _items, ...others } = inputs;
  const condition = step.value.loopCondition ?? '';
  const hasItems = step.value.items !== undefined || _items !== undefined;
  if (typeof condition !== 'string') {
    problems.add(`${step.path}/loopCondition`, 'bad_field', 'loopCondition must be a script');
    return { inputs: others };
  }
  if (condition === '' && !hasItems) {
    const what = 'a DO_WHILE needs a loopCondition, or items to go over';
    problems.add(`${step.path}/loopCondition`, 'missing_field', what);
  }
  return { script: condition, inputs: others };
}

function readDynamic(step: Outline, inputs: Inputs, problems: Problems): string {
  const name = problems.text(step, 'dynamicTaskNameParam');
  if (name !== '' && inputs[name] === undefined) {
    const what = `dynamicTaskNameParam must be the name of an input; "${name}" is not one`;
    problems.add(`${step.path}/dynamicTaskNameParam`, 'bad_field', what);
  }
  return name;
}

const TERMINATIONS = ['COMPLETED', 'FAILED', 'TERMINATED'];

function checkTerminate(step: Outline, inputs: Inputs, problems: Problems): void {
  const status = inputs.terminationStatus ?? 'COMPLETED';
  if (!isExpression(status) && !TERMINATIONS.includes(String(status))) {
    const path = `${step.path}/inputParameters/terminationStatus`;
    problems.add(path, 'bad_field', `terminationStatus must be one of ${TERMINATIONS.join(', ')}`);
  }
  if (step.value.optional !== true) return;
  const what = 'a TERMINATE ends the run, so it cannot be optional';
  problems.add(`${step.path}/optional`, 'terminate_optional', what);
}

function checkWait(step: Outline, inputs: Inputs, problems: Problems): void {
  const path = `${step.path}/inputParameters`;
  if (inputs.duration !== undefined && inputs.until !== undefined) {
    problems.add(path, 'bad_field', 'a WAIT has a duration or an until, not both');
    return;
  }
  for (const field of ['duration', 'until'] as const) {
    const value = inputs[field];
    if (value === undefined || isExpression(value)) continue;
    if (waitUntil({ [field]: value }, 0) === undefined) {
      problems.add(`${path}/${field}`, 'bad_field', `${field} must be ${WAIT_FORMS[field]}`);
    }
  }
}
