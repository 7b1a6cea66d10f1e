import { hasThreeDecimals, parseConstraint, type TaskPatch, type TaskSpec } from '@sluice/core';
import { brokenTextIn } from '@sluice/protocol/body-rules';
import { setExecType } from '@sluice/protocol/exec-types';
import { checkDefinition, checkTask, patchProblems } from '@sluice/protocol/task-rules';
import { type ErrorDetail, problemText } from '../../calls/http-answers.ts';
import { errorOf } from '../../calls/sluice-error.ts';
import { pathOfTask } from '../../client/task-client.ts';
import type { TaskBody } from '../../task/define-task.ts';
import type { TaskChanges, TaskDefaults } from '../../task/task-options.ts';
import schemas from './request-schemas.json' with { type: 'json' };
import { type Schema, schemaProblems } from './schema-problems.ts';

/** Refuses what a server refuses, by the same rules: a test copies the schemas from the server. */

const CORE_RULES = { hasThreeDecimals, parseConstraint };

/** Why `exec` is refused. */
export const NO_AGENT = 'cannot be run by a TestSluice, which has no agent; use a server';

type Tasks = Parameters<typeof checkTask>[0];
type PatchRequest = Parameters<typeof patchProblems>[0];
type Definition = Parameters<typeof checkDefinition>[0];

/**
 * Tasks in the core's form. `first` is the index of the first among those of a caller, or undefined
 * for a single one.
 */
export function taskSpecs(bodies: readonly TaskBody[], first: number | undefined): TaskSpec[] {
  const details: ErrorDetail[] = [];
  const specs = bodies.map(({ input, ...body }, index) => {
    const path = pathOfTask(first, index);
    // The input does not matter here, and may be large.
    const sent = asSent(input === undefined ? body : { ...body, input: null });
    setExecType(sent);
    const problems = [...schemaProblems(schemas.TaskRequest, sent, path), ...broken(sent, path)];
    if (problems.length === 0) checkTask(sent as Tasks, path, problems, CORE_RULES);
    if ('exec' in (sent as object)) problems.push({ path: `${path}/exec`, problem: NO_AGENT });
    details.push(...problems);
    const {
      input: _,
      dedupeKey: __,
      dedupeWindowMs: ___,
      onDuplicate: ____,
      runAt,
      ...spec
    } = sent as unknown as TaskBody;
    // A refused time may be anything, even an object that cannot be converted.
    const isTime = runAt !== undefined && problems.length === 0;
    return isTime ? { ...spec, runAt: new Date(runAt).getTime() } : (spec as TaskSpec);
  });
  refuse('the task is not valid', details);
  return specs;
}

/** The definition of a type as the server receives it. */
export function definitionOf(defaults: TaskDefaults): Definition {
  const sent = asSent(defaults);
  const problems = schemaProblems(schemas.TaskDefinition, sent);
  if (problems.length === 0) checkDefinition(sent as Definition, '', problems, CORE_RULES);
  refuse('the definition is not valid', problems);
  return sent as Definition;
}

/** A patch in the core's form. Of the input it contains only `hasInput`. */
export function patchOf(id: string, changes: TaskChanges): TaskPatch {
  const { input, ...others } = changes;
  const hasInput = input !== undefined;
  const sent = asSent(hasInput ? { ...others, input: null } : others);
  const problems = [...schemaProblems(schemas.TaskPatch as Schema, sent), ...broken(sent, '')];
  if (problems.length === 0) problems.push(...patchProblems(sent as PatchRequest, ''));
  refuse('the patch is not valid', problems);
  const {
    input: _,
    runAt,
    ...patch
  } = sent as Omit<TaskPatch, 'runAt'> & {
    readonly input?: unknown;
    readonly runAt?: string | number | null;
  };
  const due = typeof runAt === 'string' ? Date.parse(runAt) : runAt;
  return { ...patch, id, hasInput, ...(due === undefined ? {} : { runAt: due }) };
}

/** The problems of a request without its payload. */
export function requestProblems(
  name: 'RunRequest' | 'ScheduleRequest' | 'StepOptions',
  request: object,
  path: string,
): ErrorDetail[] {
  const sent = asSent(request);
  return [...schemaProblems(schemas[name] as Schema, sent, path), ...broken(sent, path)];
}

/** The problems of the options that a step has for its task. */
export function optionProblems(task: TaskSpec | undefined, reference: string): ErrorDetail[] {
  if (task === undefined) return [];
  const { type: _, ...options } = task;
  const path = `/${reference}`;
  const problems = requestProblems('StepOptions', options, path);
  if (problems.length === 0) checkDefinition(options as Definition, path, problems, CORE_RULES);
  return problems;
}

/** Refuses an invalid request. */
export function check(
  name: Exclude<
    keyof typeof schemas,
    'TaskDefinition' | 'TaskPatch' | 'TaskRequest' | 'RunRequest'
  >,
  request: object,
): void {
  refuse('the request is not valid', schemaProblems(schemas[name] as Schema, asSent(request)));
}

/** Texts that UTF-8 cannot hold. */
function broken(sent: unknown, path: string): ErrorDetail[] {
  const found = brokenTextIn(sent);
  return found === undefined ? [] : [{ ...found, path: `${path}${found.path}` }];
}

/** The value as the server receives it: NaN and functions are lost. */
function asSent(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

export function refuse(what: string, details: readonly ErrorDetail[]): void {
  if (details.length === 0) return;
  const message = `${what}: ${problemText(details[0])}`;
  throw errorOf({ status: 400, code: 'invalid_request', message, details });
}
