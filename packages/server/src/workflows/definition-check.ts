import { createHash } from 'node:crypto';
import {
  compileDefinition,
  type DefinitionText,
  definitionSchemaProblems,
  STEP_KINDS,
} from '@sluice/core';
import {
  checkDefinition,
  type ErrorDetail,
  LIMITS,
  SluiceError,
  StepOptions,
} from '@sluice/protocol';
import { suggest } from '@sluice/protocol/suggestion';
import { CORE_RULES } from '../base/core-rules.ts';
import { comparePlaces, valueAt } from '../base/json-pointer.ts';
import { UTF8 } from '../base/utf8.ts';
import { Checker } from '../base/validation.ts';
import type { ScriptLanguage } from '../scripts/script-messages.ts';
import type { Scripts } from '../scripts/scripts.ts';
import {
  checkFieldNames,
  type DefinitionWarning,
  type FieldsPlace,
  fieldWarnings,
} from './field-names.ts';

/**
 * Checks definitions before they reach the core: their size, their syntax and graph by compiling
 * them, and the options of tasks by the schemas that a submit has.
 */

/** Deeper definitions are no real ones, and would exhaust the stack. */
const DEPTH_MAX = 200;

/** The core refuses definitions with more steps. */
const STEPS_MAX = 2000;

/** Longer names are no misspelled types, and comparing them takes time. */
const WORD_MAX = 40;

const OPTIONS = Object.keys(StepOptions.properties);

const options = new Checker(StepOptions);

/** The definition as the core takes it. `problems` gets everything that is wrong with it. */
export function checkedDefinition(
  value: unknown,
  path: string,
  problems: ErrorDetail[],
): DefinitionText {
  if (isTooDeep(value)) {
    problems.push({ path, problem: `is nested more than ${DEPTH_MAX} deep`, code: 'too_deep' });
    return { text: '', hash: '' };
  }
  const text = JSON.stringify(value) ?? '';
  const bytes = Buffer.byteLength(text);
  if (bytes > LIMITS.definitionBytesMax) throw tooLarge(bytes, path);
  const compiled = compileDefinition(value, UTF8);
  for (const found of compiled.problems ?? []) {
    const at = found.path === '/' ? '' : found.path;
    const hint = found.code === 'unknown_type' ? nearestType(valueAt(value, at)) : '';
    problems.push({ path: path + at, problem: found.message + hint, code: found.code });
  }
  checkOptions(value, path, problems);
  checkSchemas(value, path, problems);
  checkFieldNames({ fields: fieldsOf(value), path }, stepFields(value, path), problems);
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}

function nearestType(type: unknown): string {
  const isWord = typeof type === 'string' && type.length <= WORD_MAX;
  const near = isWord ? suggest(type.toUpperCase(), STEP_KINDS) : undefined;
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

/** Fields of a correct definition that have no effect. */
export function definitionWarnings(definition: unknown): DefinitionWarning[] {
  return fieldWarnings({ fields: fieldsOf(definition), path: '' }, stepFields(definition, ''));
}

function stepFields(definition: unknown, path: string): FieldsPlace[] {
  const steps = [...allSteps(definition, path)];
  return steps.map((step) => ({ fields: fieldsOf(step.value), path: step.path }));
}

/** Throws unless there are no problems. They are named in the order of their places. */
export function refuseProblems(found: readonly ErrorDetail[]): void {
  if (found.length === 0) return;
  const problems = found.toSorted((a, b) => comparePlaces(a.path, b.path));
  const [{ path, problem }] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const message = `the definition is not valid: ${path} ${problem}${more}`;
  throw new SluiceError('invalid_definition', message, { details: problems });
}

type Fields = Readonly<Record<string, unknown>>;

interface Place {
  readonly value: unknown;
  readonly path: string;
}

/** What is wrong with the scripts of a definition. A definition without scripts costs nothing. */
export async function scriptProblems(
  definition: unknown,
  path: string,
  scripts: Pick<Scripts, 'check'>,
): Promise<ErrorDetail[]> {
  const problems: ErrorDetail[] = [];
  for (const step of allSteps(definition, path)) {
    const script = scriptOf(step);
    if (script === undefined) continue;
    const problem = await scripts.check(script.source, script.language);
    if (problem !== undefined) problems.push({ path: script.path, problem, code: 'bad_script' });
  }
  return problems;
}

interface Script {
  readonly source: string;
  readonly language: ScriptLanguage;
  readonly path: string;
}

function scriptOf({ value, path }: Place): Script | undefined {
  const step = fieldsOf(value);
  const inputs = fieldsOf(step.inputParameters);
  const isSwitch = step.type === 'SWITCH' && SCRIPTS.includes(String(step.evaluatorType));
  const isQuery = step.type === 'JSON_JQ_TRANSFORM';
  const found: readonly (readonly [isMeant: boolean, source: unknown, field: string])[] = [
    [isSwitch, step.expression, 'expression'],
    [step.type === 'INLINE', inputs.expression, 'inputParameters/expression'],
    [isQuery, inputs.queryExpression, 'inputParameters/queryExpression'],
    [step.type === 'DO_WHILE', step.loopCondition, 'loopCondition'],
  ];
  const [, source, field] = found.find(([isMeant]) => isMeant) ?? [];
  if (typeof source !== 'string') return undefined;
  return { source, language: isQuery ? 'jq' : 'javascript', path: `${path}/${field}` };
}

const SCRIPTS = ['javascript', 'graaljs'];

/** Types of steps that have a task. */
const WITH_TASKS: readonly unknown[] = ['SIMPLE', 'HTTP'];

function checkOptions(definition: unknown, path: string, problems: ErrorDetail[]): void {
  for (const { value, path: at } of allSteps(definition, path)) {
    const step = fieldsOf(value);
    if (!WITH_TASKS.includes(step.type ?? 'SIMPLE')) continue;
    checkOwnOptions(fieldsOf(step.taskDefinition), `${at}/taskDefinition`, problems);
    checkOwnOptions(step, at, problems);
  }
}

/** Schemas of the definition, and of the definitions in it. */
function checkSchemas(definition: unknown, path: string, problems: ErrorDetail[]): void {
  const inside = [...allSteps(definition, path)].map(({ value, path: at }) => ({
    value: fieldsOf(fieldsOf(value).subWorkflowParam).workflowDefinition,
    path: `${at}/subWorkflowParam/workflowDefinition`,
  }));
  for (const { value, path: at } of [{ value: definition, path }, ...inside]) {
    for (const found of definitionSchemaProblems(value)) {
      problems.push({ path: at + found.path, problem: found.problem, code: 'bad_schema' });
    }
  }
}

/** Every step, however steps are nested. */
function* allSteps(definition: unknown, path: string): Iterable<Place> {
  const waiting = stepsIn(fieldsOf(definition).tasks, `${path}/tasks`).reverse();
  for (let looked = 0; looked < STEPS_MAX; looked++) {
    const next = waiting.pop();
    if (next === undefined) return;
    yield next;
    for (const inner of innerSteps(fieldsOf(next.value), next.path).reverse()) waiting.push(inner);
  }
}

/** Fields that are absent or null leave the option to the task type. */
function checkOwnOptions(fields: Fields, path: string, problems: ErrorDetail[]): void {
  const given = Object.fromEntries(
    OPTIONS.filter((name) => (fields[name] ?? undefined) !== undefined).map((name) => [
      name,
      fields[name],
    ]),
  );
  const found: ErrorDetail[] = [];
  if (options.accepts(given)) checkDefinition(given, path, found, CORE_RULES);
  else found.push(...options.problems(given, path));
  problems.push(...found.map((each) => ({ ...each, code: 'bad_field' })));
}

function innerSteps(step: Fields, path: string): Place[] {
  const branches = listOf(step.forkTasks).flatMap((branch, index) =>
    stepsIn(branch, `${path}/forkTasks/${index}`),
  );
  const cases = Object.entries(fieldsOf(step.decisionCases)).flatMap(([name, steps]) =>
    stepsIn(steps, `${path}/decisionCases/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  const others = stepsIn(step.defaultCase, `${path}/defaultCase`);
  const inside = `${path}/subWorkflowParam/workflowDefinition/tasks`;
  const { workflowDefinition } = fieldsOf(step.subWorkflowParam);
  const ofChild = stepsIn(fieldsOf(workflowDefinition).tasks, inside);
  const body = stepsIn(step.loopOver, `${path}/loopOver`);
  return [...branches, ...cases, ...others, ...body, ...ofChild];
}

function stepsIn(list: unknown, path: string): Place[] {
  return listOf(list).map((value, index) => ({ value, path: `${path}/${index}` }));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= DEPTH_MAX; depth++) {
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

function tooLarge(bytes: number, path: string): SluiceError {
  const problem = `is ${bytes} bytes of JSON; at most ${LIMITS.definitionBytesMax} are taken`;
  const message = `the definition ${problem}`;
  return new SluiceError('payload_too_large', message, { details: [{ path, problem }] });
}
