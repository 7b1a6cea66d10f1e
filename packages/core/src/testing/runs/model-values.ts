import { type Entered, STATUS, type Where } from './entered-step.ts';
import { fillTexts } from './model-expressions.ts';
import {
  flatten,
  forkOf,
  loopsAround,
  type ModelDefinition,
  type ModelStep,
  membersOf,
  scopeSteps,
  suffixOf,
} from './model-steps.ts';

/** What the expressions of a run see, as the naive interpreter has it. */
export class ModelValues {
  /** By reference, with the iterations of the loops around it. */
  readonly entered = new Map<string, Entered>();
  /** Branches of dynamic forks, by the same names. */
  readonly steps = new Map<string, ModelStep>();
  variables: Record<string, unknown>;
  private readonly definition: ModelDefinition;
  private readonly input: unknown;

  constructor(definition: ModelDefinition, input: unknown) {
    this.definition = definition;
    this.input = input;
    this.variables = { ...definition.variables };
  }

  get tasks(): readonly ModelStep[] {
    return this.definition.tasks;
  }

  /** The output of a step; that of a loop is made of its iterations. */
  outputOf(key: string | undefined): unknown {
    const entered = this.entered.get(key ?? '');
    const step = this.find(key ?? '');
    if (entered === undefined || step?.type !== 'DO_WHILE') return entered?.output;
    // It was passed over before it began.
    if (entered.state === 'skipped' && entered.iteration === undefined) return undefined;
    const iteration = entered.iteration ?? 0;
    const output: Record<string, unknown> = { iteration };
    if (Array.isArray(entered.items) && iteration > 0) {
      Object.assign(output, { loopIndex: iteration - 1, loopItem: entered.items[iteration - 1] });
    }
    for (let n = 1; n <= iteration; n++) {
      const body = scopeSteps(step.loopOver ?? []).flatMap(({ taskReferenceName: name }) => {
        const value = this.outputOf(`${name}${suffixOf(key ?? '')}__${n}`);
        return value === undefined ? [] : [[name, value]];
      });
      output[n] = Object.fromEntries(body);
    }
    return output;
  }

  /** The case that a SWITCH took. */
  caseOf(step: ModelStep, suffix: string): readonly ModelStep[] {
    const { output } = this.entered.get(step.taskReferenceName + suffix) as Entered;
    if (output === undefined) return step.defaultCase ?? [];
    const { selectedCase } = output as { selectedCase: string };
    return step.decisionCases?.[selectedCase] ?? step.defaultCase ?? [];
  }

  /** The loops around a step and their iterations. */
  whereOf(step: ModelStep, suffix: string): Where {
    const loops = loopsAround(this.definition, step.taskReferenceName);
    return { loops, iterations: suffix.split('__').slice(1) };
  }

  /** The iteration in which we are for loops around us, the newest one for others. */
  keyOf(reference: string, where: Where): string | undefined {
    let suffix = '';
    for (const [index, loop] of loopsAround(this.definition, reference).entries()) {
      const isAround = where.loops[index] === loop;
      const newest = this.entered.get(loop + suffix)?.iteration;
      if (!isAround && newest === undefined) return undefined;
      suffix += `__${isAround ? where.iterations[index] : newest}`;
    }
    return reference + suffix;
  }

  membersOf(join: ModelStep, suffix: string): string[] {
    const fork = forkOf(this.definition.tasks, join);
    const begun = this.entered.get(fork.taskReferenceName + suffix)?.branches;
    return begun === undefined ? membersOf(this.definition, join) : [...begun];
  }

  find(key: string): ModelStep | undefined {
    const branch = this.steps.get(key);
    if (branch !== undefined) return branch;
    const [reference] = key.split('__');
    return flatten(this.definition.tasks).find((step) => step.taskReferenceName === reference);
  }

  fill(value: unknown, where: Where): unknown {
    return fillTexts(value, (root) => this.root(root, where));
  }

  private root(name: string, where: Where): unknown {
    if (name === 'workflow') return { input: this.input, variables: this.variables };
    const key = this.keyOf(name, where);
    const entered = this.entered.get(key ?? '');
    if (entered === undefined) return undefined;
    const isOver = entered.state !== 'running';
    const status = isOver ? STATUS[entered.state] : null;
    return { ...entered, output: this.outputOf(key), status };
  }
}
