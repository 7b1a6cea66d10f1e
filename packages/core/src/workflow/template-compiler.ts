import type { Utf8 } from '../base/utf8.ts';
import { type Expression, ExpressionError } from '../expressions/expression.ts';
import { compileTemplate, type Template } from '../expressions/template.ts';
import { isLater, type Outline } from './outline.ts';
import type { Problems } from './problems.ts';

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
