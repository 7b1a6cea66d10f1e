import type { Utf8 } from '../base/utf8.ts';
import { type Expression, ExpressionError } from '../expressions/expression.ts';
import { compileTemplate, type Template } from '../expressions/template.ts';
import { isLater, type Outline } from './outline.ts';
import { type Problems, pointerOf } from './problems.ts';

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

/** Compiles templates and checks that every expression names something that exists. */
export class TemplateCompiler {
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
    const template = this.tried(value);
    const isGood =
      !(template instanceof ExpressionError) &&
      expressionsIn(template).every((each) => this.problemOf(each, user) === undefined);
    if (isGood) return template;
    for (const [place, text] of textsIn(value, path)) this.report(text, place, user);
    return { parts: [] };
  }

  private tried(value: unknown): Template | ExpressionError {
    try {
      return compileTemplate(value, this.utf8);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return error;
    }
  }

  private report(text: string, path: string, user?: Outline): void {
    const template = this.tried(text);
    if (template instanceof ExpressionError) {
      this.problems.add(path, 'bad_expression', template.message);
      return;
    }
    for (const expression of expressionsIn(template)) {
      const problem = this.problemOf(expression, user);
      if (problem !== undefined) this.problems.add(path, problem.code, problem.message);
    }
  }

  private problemOf({ root, path: [first], source }: Expression, user?: Outline) {
    const isRun = root === 'workflow';
    const step = this.steps.get(root);
    if (step !== undefined && user !== undefined && isLater(step, user)) {
      const what = `"\${${source}}" names "${root}", which comes later and has no value yet`;
      const todo = 'in a loop, SET_VARIABLE keeps a value for the next iteration';
      return { code: 'reference_too_early', message: `${what}; ${todo}` };
    }
    if (!isRun && step === undefined) {
      const what = `"\${${source}}" names the step "${root}", which this definition does not have`;
      return { code: 'unknown_reference', message: what };
    }
    const fields = isRun ? RUN_FIELDS : STEP_FIELDS;
    if (first?.kind === 'name' && fields.includes(first.name)) return undefined;
    const what = `"\${${source}}": ${root} must be followed by one of ${fields.join(', ')}`;
    return { code: 'bad_expression', message: what };
  }
}

function expressionsIn({ parts }: Template): Expression[] {
  return parts.flatMap((part) => (part instanceof Uint8Array ? [] : [part.expression]));
}

/** Every text in a value, with its place, in reading order. */
function textsIn(value: unknown, path: string): [path: string, text: string][] {
  const found: [string, string][] = [];
  const left: [string, unknown][] = [[path, value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [place, inside] = next;
    if (typeof inside === 'string') found.push([place, inside]);
    if (typeof inside !== 'object' || inside === null) continue;
    for (const [name, of] of Object.entries(inside).reverse()) {
      left.push([`${place}/${pointerOf(name)}`, of]);
    }
  }
  return found;
}
