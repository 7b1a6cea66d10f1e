import type { Utf8 } from '../base/utf8.ts';
import type { Template } from '../expressions/template.ts';
import { schemasOf } from '../schema/definition-schemas.ts';
import { childFields, failureFields } from './child-fields.ts';
import { mayCallReceiver } from './event-fields.ts';
import { forkForm } from './fork-form.ts';
import { GraphBuilder, type Links, NO_PLACE } from './graph.ts';
import { callbackFields } from './http-fields.ts';
import { kindFields } from './kind-fields.ts';
import { type Outline, OutlineReader, type ScopeOutline } from './outline.ts';
import { type DefinitionProblem, isObject, type Place, Problems, pointerOf } from './problems.ts';
import {
  CALLBACK_TASK_TYPE,
  type CallbackNode,
  type ChildNode,
  COMMAND_TASK_TYPE,
  CONTAINER_TASK_TYPE,
  type ForkNode,
  HTTP_TASK_TYPE,
  ITERATIONS_MAX,
  type LoopNode,
  type Program,
  type Scope,
  type StepNode,
} from './program.ts';
import { runCallback } from './run-callback.ts';
import { SECONDS_MAX, stepTask } from './step-task.ts';
import { TemplateCompiler } from './template-compiler.ts';

export type Compiled =
  | { readonly program: Program; readonly problems?: undefined }
  | { readonly problems: readonly DefinitionProblem[]; readonly program?: undefined };

/** Compiles the parsed JSON of a definition: a program, or everything that is wrong with it. */
export function compileDefinition(definition: unknown, utf8: Utf8): Compiled {
  const problems = new Problems();
  if (!isObject(definition)) {
    problems.add('', 'bad_field', 'a definition must be an object');
    return { problems: problems.list };
  }
  const root = { value: definition, path: '' };
  const reader = new OutlineReader(problems);
  const top = reader.read(problems.array(root, 'tasks'), '/tasks');
  if (top.length === 0 && problems.list.length === 0) {
    problems.add('/tasks', 'missing_field', 'a definition needs at least one step in tasks');
  }
  const steps = reader.all;
  const { scopes } = reader;
  const graph = new GraphBuilder(steps, problems);
  graph.list(top, []);
  const checker = new TemplateCompiler(problems, utf8, steps);
  const compiling = { checker, scopes };
  const nodes = steps.map((step) => makeNode(step, graph.links[step.place], compiling));
  const outputs = problems.object(root, 'outputParameters');
  const hasOutput = Object.keys(outputs).length > 0;
  const output = hasOutput ? checker.compile(outputs, '/outputParameters') : undefined;
  const variables = problems.object(root, 'variables');
  const defaults = problems.object(root, 'inputTemplate');
  const timeoutMs = timeoutOf(root, problems);
  const failing = failureFields(root, problems);
  const failure = failing === undefined ? undefined : checker.compile(failing, '/failureWorkflow');
  const callback = runCallback(root, problems);
  if (problems.list.length > 0) return { problems: problems.list };
  const program = {
    nodes,
    byReference: new Map(
      nodes.flatMap(({ reference, place }) => (reference === '' ? [] : [[reference, place]])),
    ),
    scopes: scopes.map((scope) => makeScope(scope, nodes)),
    output,
    last: top.at(-1)?.place ?? NO_PLACE,
    variables: Object.keys(variables).length > 0 ? JSON.stringify(variables) : '',
    inputDefaults: new Map(
      Object.entries(defaults).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
    schemas: schemasOf(definition),
    timeoutMs,
    alertsOnly: definition.timeoutPolicy === 'ALERT_ONLY',
    failure,
    callback,
  };
  return { program };
}

function makeScope({ first, size, loop }: ScopeOutline, nodes: readonly StepNode[]): Scope {
  const inside = nodes.slice(first, first + size);
  return {
    first,
    loop: loop?.place ?? NO_PLACE,
    isFork: loop?.kind === 'FORK_JOIN_DYNAMIC',
    arrivals: inside.map(({ arrivals }) => arrivals),
    tasks: inside.filter(({ task }) => task !== undefined).length,
  };
}

const TIMEOUT_POLICIES = ['TIME_OUT_WF', 'ALERT_ONLY'];

function timeoutOf(root: Place, problems: Problems): number {
  const seconds = problems.count(root, 'timeoutSeconds', SECONDS_MAX) ?? 0;
  const policy = root.value.timeoutPolicy ?? 'TIME_OUT_WF';
  if (!TIMEOUT_POLICIES.includes(String(policy))) {
    const what = `timeoutPolicy must be one of ${TIMEOUT_POLICIES.join(', ')}`;
    problems.add('/timeoutPolicy', 'bad_field', what);
  }
  return seconds * 1000;
}

function makeNode(step: Outline, links: Links, compiling: Compiling): StepNode {
  const { checker } = compiling;
  const { value, path, kind, isBranch } = step;
  // The branch of a dynamic fork has its name and input from the fork, and the fork's options.
  const given = isBranch ? {} : checker.problems.object(step, 'inputParameters');
  const problems = kind === 'FORK_JOIN_DYNAMIC' ? new Problems() : checker.problems;
  const { inputs, ...fields } = kindFields(step, given, problems);
  const isCommand = kind === 'SIMPLE' && !isBranch && value.exec !== undefined;
  if (isCommand) checkExec(step, problems);
  const isNamed = !isCommand && ((kind === 'SIMPLE' && !isBranch) || kind in OWN_TYPES);
  const named = isNamed ? nameOf(step, problems) : String(value.name ?? '');
  const execType = isCommand ? execTypeOf(step) : '';
  const name = isCommand ? execType : named;
  const isCall = kind === 'EVENT' && mayCallReceiver(step);
  const type = isCall ? CALLBACK_TASK_TYPE : isNamed ? name : '';
  const hasTask = WITH_TASK.includes(kind) || isCall;
  return {
    ...links,
    ...fields,
    place: step.place,
    scope: step.scope,
    kind,
    reference: step.reference,
    name,
    input: isCommand
      ? commandInput(step, inputs, checker)
      : checker.compile(inputs, `${path}/inputParameters`, step),
    isOptional: problems.flag(step, 'optional'),
    isPermissive: problems.flag(step, 'permissive'),
    isAsync: kind === 'EVENT' && problems.flag(step, 'asyncComplete'),
    startDelayMs: (problems.count(step, 'startDelay', SECONDS_MAX) ?? 0) * 1000,
    task: hasTask
      ? { ...stepTask(problems, step, type), ...(isCommand ? { type: execType } : {}) }
      : undefined,
    loop: kind === 'DO_WHILE' ? makeLoop(step, given, compiling) : undefined,
    fork: kind === 'FORK_JOIN_DYNAMIC' ? makeFork(step, given, compiling) : undefined,
    child: kind === 'SUB_WORKFLOW' ? makeChild(step, checker) : undefined,
    callback: kind === 'CALLBACK' ? makeCallback(step, checker) : undefined,
    sink: kind === 'EVENT' ? checker.compile(value.sink, `${path}/sink`, step) : undefined,
  };
}

/** The program stands in front of the input. Problems are those of the two parts. */
function commandInput(step: Outline, inputs: unknown, checker: TemplateCompiler): Template {
  const { exec } = step.value;
  const before = checker.problems.list.length;
  checker.compile(exec, `${step.path}/exec`, step);
  checker.compile(inputs, `${step.path}/inputParameters`, step);
  const hasProblem = checker.problems.list.length > before;
  return hasProblem ? { parts: [] } : checker.compile({ exec, input: inputs }, step.path, step);
}

/** Only the frame of it: the rest may come from expressions, and the agent checks it. */
function checkExec({ value, path }: Outline, problems: Problems): void {
  const { command, image } = isObject(value.exec) ? value.exec : {};
  if (typeof image === 'string' && image !== '' && command === undefined) return;
  if (image === undefined && isArguments(command)) return;
  if (image !== undefined) {
    const what = command === undefined ? 'must be the name of an image' : NOT_BOTH;
    problems.add(`${path}/exec/image`, 'bad_field', `image ${what}`);
    return;
  }
  const what = 'must be a list of the program and its arguments, such as ["ffmpeg", "-version"]';
  problems.add(`${path}/exec/command`, 'bad_field', `command ${what}`);
}

const NOT_BOTH = 'cannot be combined with command';

function isArguments(command: unknown): boolean {
  return typeof command === 'string' || (Array.isArray(command) && command.length > 0);
}

function execTypeOf({ value }: Outline): string {
  const isContainer = isObject(value.exec) && value.exec.image !== undefined;
  return isContainer ? CONTAINER_TASK_TYPE : COMMAND_TASK_TYPE;
}

/** Types of tasks that the server deals with itself. */
const OWN_TYPES: Readonly<Record<string, string>> = {
  HTTP: HTTP_TASK_TYPE,
  CALLBACK: CALLBACK_TASK_TYPE,
};

const WITH_TASK: readonly StepNode['kind'][] = ['SIMPLE', 'DYNAMIC', 'HTTP', 'CALLBACK'];

/** The type of the task of a step that has one. */
function nameOf(step: Outline, problems: Problems): string {
  return OWN_TYPES[step.kind] ?? problems.text(step, 'name');
}

function makeCallback(step: Outline, checker: TemplateCompiler): CallbackNode {
  const { to, waits } = callbackFields(step, checker.problems);
  return { to: checker.compile(to, `${step.path}/callback`, step), waits };
}

/** A loop has a condition, a list, or both. */
function makeLoop(
  step: Outline,
  inputs: Readonly<Record<string, unknown>>,
  { checker, scopes }: Compiling,
): LoopNode {
  const listed = step.value.items ?? inputs._items;
  const path = step.value.items === undefined ? 'inputParameters/_items' : 'items';
  const items =
    listed === undefined ? undefined : checker.compile(listed, `${step.path}/${path}`, step);
  const place = { value: inputs, path: `${step.path}/inputParameters` };
  return {
    scope: scopes.findIndex(({ loop }) => loop === step),
    items,
    keepLastN: checker.problems.count(place, 'keepLastN', ITERATIONS_MAX) ?? 0,
  };
}

/** One of three forms, tried in this order. */
function makeFork(
  step: Outline,
  inputs: Readonly<Record<string, unknown>>,
  { checker, scopes }: Compiling,
): ForkNode {
  const scope = scopes.findIndex(({ loop }) => loop === step);
  const template = (name: string, value: unknown) =>
    checker.compile(value, `${step.path}/inputParameters/${pointerOf(name)}`, step);
  const isOnly = scopes.filter(({ loop }) => loop?.kind === step.kind).length === 1;
  const form = forkForm(step, inputs, checker.problems);
  if (form.kind === 'items') {
    const items = template('forkTaskInputs', inputs.forkTaskInputs);
    const { name: given, version } = form;
    const isWorkflow = version !== undefined;
    const name = template(isWorkflow ? 'forkTaskWorkflow' : 'forkTaskName', given);
    const which = isWorkflow ? template('forkTaskWorkflowVersion', version) : undefined;
    return { form: 'items', scope, items, name, version: which, isOnly };
  }
  const { tasksParam, inputsParam } = form;
  const given = inputsParam === '' ? undefined : template(inputsParam, inputs[inputsParam]);
  const tasks = template(tasksParam, inputs[tasksParam]);
  return { form: 'tasks', scope, tasks, inputs: given, tasksParam, inputsParam };
}

/** A definition that stands in this one is checked as a whole, too. */
function makeChild(step: Outline, checker: TemplateCompiler): ChildNode {
  const { problems, utf8 } = checker;
  const { which, definition } = childFields(step, problems);
  const path = `${step.path}/subWorkflowParam`;
  const inside = definition === undefined ? undefined : compileDefinition(definition, utf8);
  for (const found of inside?.problems ?? []) {
    const at = found.path === '/' ? '' : found.path;
    problems.add(`${path}/workflowDefinition${at}`, found.code, found.message);
  }
  return {
    which: checker.compile(which, path, step),
    definition: definition === undefined ? '' : JSON.stringify(definition),
  };
}

interface Compiling {
  readonly checker: TemplateCompiler;
  readonly scopes: readonly ScopeOutline[];
}
