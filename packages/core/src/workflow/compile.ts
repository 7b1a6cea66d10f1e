import type { Utf8 } from '../base/utf8.ts';
import { childFields, failureFields } from './child-fields.ts';
import { type Expression, ExpressionError } from './expression.ts';
import { GraphBuilder, type Links, NO_PLACE } from './graph.ts';
import { kindFields } from './kind-fields.ts';
import { isLater, type Outline, OutlineReader, type ScopeOutline } from './outline.ts';
import { type DefinitionProblem, isObject, type Place, Problems } from './problems.ts';
import {
  type ChildNode,
  HTTP_TASK_TYPE,
  ITERATIONS_MAX,
  type LoopNode,
  type Program,
  type Scope,
  type StepNode,
} from './program.ts';
import { SECONDS_MAX, stepTask } from './step-task.ts';
import { compileTemplate, type Template } from './template.ts';

export type Compiled =
  | { readonly program: Program; readonly problems?: undefined }
  | { readonly problems: readonly DefinitionProblem[]; readonly program?: undefined };

/** What an expression may ask of the run, and of a step. */
const RUN_FIELDS = [
  'input',
  'variables',
  'workflowId',
  'workflowType',
  'version',
  'correlationId',
  'status',
];
const STEP_FIELDS = [
  'input',
  'output',
  'status',
  'taskId',
  'taskType',
  'taskDefName',
  'referenceTaskName',
  'startTime',
  'endTime',
  'retryCount',
  'subWorkflowId',
];

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
  if (problems.list.length > 0) return { problems: problems.list };
  const program = {
    nodes,
    byReference: new Map(nodes.map(({ reference, place }) => [reference, place])),
    scopes: scopes.map((scope) => makeScope(scope, nodes)),
    output,
    last: top.at(-1)?.place ?? NO_PLACE,
    variables: Object.keys(variables).length > 0 ? JSON.stringify(variables) : '',
    inputDefaults: new Map(
      Object.entries(defaults).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
    timeoutMs,
    failure,
  };
  return { program };
}

function makeScope({ first, size, loop }: ScopeOutline, nodes: readonly StepNode[]): Scope {
  const inside = nodes.slice(first, first + size);
  return {
    first,
    loop: loop?.place ?? NO_PLACE,
    arrivals: inside.map(({ arrivals }) => arrivals),
    tasks: inside.filter(({ task }) => task !== undefined).length,
  };
}

const TIMEOUT_POLICIES = ['TIME_OUT_WF', 'ALERT_ONLY'];

/** A run that only alerts has no bound: its age shows in the list of runs. */
function timeoutOf(root: Place, problems: Problems): number {
  const seconds = problems.count(root, 'timeoutSeconds', SECONDS_MAX) ?? 0;
  const policy = root.value.timeoutPolicy ?? 'TIME_OUT_WF';
  if (!TIMEOUT_POLICIES.includes(String(policy))) {
    const what = `timeoutPolicy must be one of ${TIMEOUT_POLICIES.join(', ')}`;
    problems.add('/timeoutPolicy', 'bad_field', what);
  }
  return policy === 'ALERT_ONLY' ? 0 : seconds * 1000;
}

function makeNode(step: Outline, links: Links, { checker, scopes }: Compiling): StepNode {
  const { problems } = checker;
  const { path, kind } = step;
  const given = problems.object(step, 'inputParameters');
  const { inputs, ...own } = kindFields(step, given, problems);
  const name = nameOf(step, problems);
  return {
    ...links,
    ...own,
    place: step.place,
    scope: step.scope,
    kind,
    reference: step.reference,
    name,
    input: checker.compile(inputs, `${path}/inputParameters`, step),
    isOptional: problems.flag(step, 'optional'),
    isPermissive: problems.flag(step, 'permissive'),
    startDelayMs: (problems.count(step, 'startDelay', SECONDS_MAX) ?? 0) * 1000,
    task: kind === 'SIMPLE' || kind === 'HTTP' ? stepTask(problems, step, name) : undefined,
    loop: kind === 'DO_WHILE' ? makeLoop(step, given, { checker, scopes }) : undefined,
    child: kind === 'SUB_WORKFLOW' ? makeChild(step, checker) : undefined,
  };
}

/** The type of its task, if it has one. */
function nameOf(step: Outline, problems: Problems): string {
  if (step.kind === 'HTTP') return HTTP_TASK_TYPE;
  return step.kind === 'SIMPLE' ? problems.text(step, 'name') : String(step.value.name ?? '');
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

/** Compiles templates and checks that every expression names something that exists. */
class TemplateCompiler {
  readonly problems: Problems;
  readonly utf8: Utf8;
  private readonly steps: ReadonlyMap<string, Outline>;

  constructor(problems: Problems, utf8: Utf8, steps: readonly Outline[]) {
    this.problems = problems;
    this.utf8 = utf8;
    this.steps = new Map(steps.map((step) => [step.reference, step]));
  }

  /** `user` is the step that has the template; without one, it is filled when the run ends. */
  compile(value: unknown, path: string, user?: Outline): Template {
    try {
      const template = compileTemplate(value, this.utf8);
      for (const part of template.parts) {
        if (!(part instanceof Uint8Array)) this.check(part.expression, path, user);
      }
      return template;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.problems.add(path, 'bad_expression', error.message);
      return { parts: [] };
    }
  }

  private check({ root, path: [first], source }: Expression, path: string, user?: Outline): void {
    const isRun = root === 'workflow';
    const step = this.steps.get(root);
    if (step !== undefined && user !== undefined && isLater(step, user)) {
      const what = `"\${${source}}" names "${root}", which comes later and has no value yet`;
      const todo = 'in a loop, SET_VARIABLE keeps a value for the next iteration';
      this.problems.add(path, 'reference_too_early', `${what}; ${todo}`);
      return;
    }
    if (!isRun && step === undefined) {
      const what = `"\${${source}}" names the step "${root}", which this definition does not have`;
      this.problems.add(path, 'unknown_reference', what);
      return;
    }
    const fields = isRun ? RUN_FIELDS : STEP_FIELDS;
    if (first?.kind === 'name' && fields.includes(first.name)) return;
    const what = `"\${${source}}": ${root} must be followed by one of ${fields.join(', ')}`;
    this.problems.add(path, 'bad_expression', what);
  }
}
