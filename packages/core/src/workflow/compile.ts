import type { Utf8 } from '../base/utf8.ts';
import { type Expression, ExpressionError } from './expression.ts';
import { GraphBuilder, type Links, NO_PLACE } from './graph.ts';
import { type Outline, OutlineReader } from './outline.ts';
import { type DefinitionProblem, isObject, Problems } from './problems.ts';
import type { Program, StepNode } from './program.ts';
import { stepTask } from './step-task.ts';
import { compileTemplate, type Template } from './template.ts';

export type Compiled =
  | { readonly program: Program; readonly problems?: undefined }
  | { readonly problems: readonly DefinitionProblem[]; readonly program?: undefined };

const DELAY_SECONDS_MAX = 3_155_760_000;

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
  const top = reader.list(problems.array(root, 'tasks'), '/tasks');
  if (top.length === 0 && problems.list.length === 0) {
    problems.add('/tasks', 'missing_field', 'a definition needs at least one step in tasks');
  }
  const graph = new GraphBuilder(reader.all, problems);
  graph.list(top, []);
  const checker = new TemplateCompiler(problems, utf8, reader.all);
  const nodes = reader.all.map((step) => makeNode(step, graph.links[step.place], checker));
  const outputs = problems.object(root, 'outputParameters');
  const hasOutput = Object.keys(outputs).length > 0;
  const output = hasOutput ? checker.compile(outputs, '/outputParameters') : undefined;
  const variables = problems.object(root, 'variables');
  const defaults = problems.object(root, 'inputTemplate');
  if (problems.list.length > 0) return { problems: problems.list };
  const program = {
    nodes,
    byReference: new Map(nodes.map(({ reference, place }) => [reference, place])),
    arrivals: nodes.map(({ arrivals }) => arrivals),
    tasks: nodes.filter(({ task }) => task !== undefined).length,
    output,
    last: top.at(-1)?.place ?? NO_PLACE,
    variables: Object.keys(variables).length > 0 ? JSON.stringify(variables) : '',
    inputDefaults: new Map(
      Object.entries(defaults).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  };
  return { program };
}

function makeNode(step: Outline, links: Links, checker: TemplateCompiler): StepNode {
  const { problems } = checker;
  const { value, path, kind } = step;
  const inputs = problems.object(step, 'inputParameters');
  const isOptional = problems.flag(step, 'optional');
  const name = kind === 'SIMPLE' ? problems.text(step, 'name') : String(value.name ?? '');
  if (kind === 'TERMINATE') checkTerminate(step, inputs, problems);
  return {
    ...links,
    place: step.place,
    kind,
    reference: step.reference,
    name,
    input: checker.compile(inputs, `${path}/inputParameters`),
    isOptional,
    isPermissive: problems.flag(step, 'permissive'),
    startDelayMs: (problems.count(step, 'startDelay', DELAY_SECONDS_MAX) ?? 0) * 1000,
    task: kind === 'SIMPLE' ? stepTask(problems, step, name) : undefined,
    decidedBy: kind === 'SWITCH' ? decidingInput(step, inputs, problems) : '',
  };
}

function decidingInput(
  step: Outline,
  inputs: Readonly<Record<string, unknown>>,
  problems: Problems,
): string {
  const evaluator = step.value.evaluatorType ?? 'value-param';
  if (evaluator !== 'value-param') {
    const what = `evaluatorType "${String(evaluator)}" is not supported; use value-param`;
    problems.add(`${step.path}/evaluatorType`, 'bad_field', what);
  }
  const name = problems.text(step, 'expression');
  if (name !== '' && !(name in inputs)) {
    const what = `expression must be the name of an input; "${name}" is not in inputParameters`;
    problems.add(`${step.path}/expression`, 'bad_expression', what);
  }
  return name;
}

const TERMINATIONS = ['COMPLETED', 'FAILED', 'TERMINATED'];

function checkTerminate(
  step: Outline,
  inputs: Readonly<Record<string, unknown>>,
  problems: Problems,
): void {
  const status = inputs.terminationStatus ?? 'COMPLETED';
  const isExpression = typeof status === 'string' && status.startsWith('${');
  if (!isExpression && !TERMINATIONS.includes(String(status))) {
    const path = `${step.path}/inputParameters/terminationStatus`;
    problems.add(path, 'bad_field', `terminationStatus must be one of ${TERMINATIONS.join(', ')}`);
  }
  if (step.value.optional !== true) return;
  const what = 'a TERMINATE ends the run, so it cannot be optional';
  problems.add(`${step.path}/optional`, 'terminate_optional', what);
}

/** Compiles templates and checks that every expression names something that exists. */
class TemplateCompiler {
  readonly problems: Problems;
  private readonly utf8: Utf8;
  private readonly references: ReadonlySet<string>;

  constructor(problems: Problems, utf8: Utf8, steps: readonly Outline[]) {
    this.problems = problems;
    this.utf8 = utf8;
    this.references = new Set(steps.map(({ reference }) => reference));
  }

  compile(value: unknown, path: string): Template {
    try {
      const template = compileTemplate(value, this.utf8);
      for (const part of template.parts) {
        if (!(part instanceof Uint8Array)) this.check(part.expression, path);
      }
      return template;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.problems.add(path, 'bad_expression', error.message);
      return { parts: [] };
    }
  }

  private check({ root, path: [first], source }: Expression, path: string): void {
    const isRun = root === 'workflow';
    if (!isRun && !this.references.has(root)) {
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
