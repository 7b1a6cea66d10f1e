import type { SeededRandom } from '../world/seeded-random.ts';
import { BRANCH_WORKFLOW } from './model-branches.ts';
import type { ModelDefinition, ModelStep } from './model-steps.ts';

/** Steps of a definition that stands in another one. */
const CHILD_STEPS = 8;
/** Steps of a list, at most, unless it is said. */
const LENGTH = 4;

interface DefinitionOptions {
  readonly hasCalls?: boolean;
  readonly levels?: number;
  readonly other?: string;
  /** Whether steps publish events. The interpreter knows the names of workflows that tests use. */
  readonly hasEvents?: boolean;
  /** Steps of the outermost list, at most. */
  readonly length?: number;
}

/** Draws definitions of all kinds of steps, nested. */
export class RandomDefinition {
  private readonly random: SeededRandom;
  /**
   * References that a step may use: those of steps that are over before it begins. A step of
   * another branch would be a race.
   */
  private known: string[] = [];
  private steps = 0;
  /** A join did not wait for all branches: what follows races with the others. */
  private hasOpenBranches = false;
  private readonly most: number;
  /** The loops around the current place. */
  private readonly loops: string[] = [];

  /** Whether steps may wait for a call. */
  private readonly hasCalls: boolean;
  /** Levels of runs that its runs may start, and a workflow that they start without waiting. */
  private readonly levels: number;
  private readonly other: string | undefined;
  private readonly hasEvents: boolean;
  private readonly length: number;

  constructor(
    random: SeededRandom,
    most: number,
    {
      hasCalls = true,
      levels = 0,
      other,
      hasEvents = false,
      length = LENGTH,
    }: DefinitionOptions = {},
  ) {
    this.random = random;
    this.most = most;
    this.hasCalls = hasCalls;
    this.levels = levels;
    this.other = other;
    this.hasEvents = hasEvents;
    this.length = length;
  }

  /** Beside other branches, what fails a run at once would race. */
  draw({ inFork = false } = {}): ModelDefinition {
    const tasks = this.list({ depth: 0, inFork, least: 1 });
    const hasOutput = this.chance(0.5);
    return {
      tasks,
      ...(this.chance(0.3) ? { variables: { n: 1, text: 'a' } } : {}),
      ...(hasOutput ? { outputParameters: { out: this.value(), more: [this.value()] } } : {}),
    };
  }

  private list(where: { depth: number; inFork: boolean; least: number }): ModelStep[] {
    const steps: ModelStep[] = [];
    const length = where.least + this.below(where.depth === 0 ? this.length : LENGTH);
    for (let n = 0; n < length && this.steps < this.most; n++) {
      steps.push(...this.step(where.depth, where.inFork));
      if (steps.at(-1)?.type === 'TERMINATE') break;
    }
    return steps.length === 0 && where.least > 0 ? [this.simple()] : steps;
  }

  private step(depth: number, inFork: boolean): ModelStep[] {
    const dice = this.below(20);
    const isAlone = !inFork && !this.hasOpenBranches;
    if (dice < 3 && depth < 4) return this.fork(depth);
    if (dice < 6 && depth < 4) return [this.choice(depth, inFork)];
    // Two branches that set variables or end the run would race.
    if (dice < 8 && isAlone) {
      const inputParameters = { n: this.value(), [`v${this.below(3)}`]: this.value() };
      return [{ ...this.named('set'), type: 'SET_VARIABLE', inputParameters }];
    }
    if (dice === 8 && isAlone && depth > 0) return [this.terminate()];
    if (dice === 9) return [{ ...this.named('noop'), type: 'NOOP' }];
    if (dice === 10 && depth < 3) return [this.loop(depth, inFork)];
    if (dice === 11) return [this.waiting()];
    if (dice === 12) {
      if (this.chance(0.4)) {
        const inputParameters = { queryExpression: '.a', a: this.value() };
        return [{ ...this.named('query'), type: 'JSON_JQ_TRANSFORM', inputParameters }];
      }
      const inputParameters = { expression: '$.a', a: this.value() };
      return [{ ...this.named('script'), type: 'INLINE', inputParameters }];
    }
    if (dice === 13) return this.dynamicFork(inFork);
    if (dice === 14) return [this.dynamic()];
    if (dice === 16) return this.exclusive(depth);
    if (dice === 15 && this.levels > 0) return this.child(!isAlone);
    if (dice === 17 && this.hasCalls) {
      const callback = { url: 'http://a.example/hook' };
      const inputParameters = { a: this.value() };
      return [{ ...this.named('tell'), type: 'CALLBACK', callback, inputParameters }];
    }
    if (dice === 18 && this.hasCalls) {
      const inputParameters = { uri: 'http://a.example', body: this.value() };
      return [{ ...this.named('http'), type: 'HTTP', inputParameters }];
    }
    if (this.hasEvents && this.chance(0.15)) {
      const asyncComplete = this.hasCalls && this.chance(0.3);
      const event = { ...this.named('event'), type: 'EVENT', sink: 'sluice:news', asyncComplete };
      return [{ ...event, inputParameters: { a: this.value() } }];
    }
    return [this.simple()];
  }

  /** A run that the step waits for, or one that nobody waits for. */
  private child(inFork: boolean): ModelStep[] {
    const { random, hasCalls, other } = this;
    if (other !== undefined && this.chance(0.2)) {
      const inputParameters = { startWorkflow: { name: other, input: this.value() } };
      return [{ ...this.named('start'), type: 'START_WORKFLOW', inputParameters }];
    }
    const options = {
      hasCalls,
      hasEvents: this.hasEvents,
      levels: this.levels - 1,
      ...(other === undefined ? {} : { other }),
    };
    const drawn = new RandomDefinition(random, CHILD_STEPS, options).draw({ inFork });
    const workflowDefinition = { name: 'inside', ...drawn };
    const inputParameters = { k: this.value() };
    const optional = this.chance(0.2) ? { optional: true } : {};
    const subWorkflowParam = { name: 'inside', workflowDefinition };
    const type = 'SUB_WORKFLOW';
    return [{ ...this.named('sub'), type, inputParameters, subWorkflowParam, ...optional }];
  }

  private simple(): ModelStep {
    const inputParameters = { a: this.value(), b: { c: this.value() }, d: 'x' };
    const optional = this.chance(0.15) ? { optional: true } : {};
    const permissive = this.chance(0.1) ? { permissive: true } : {};
    const name = `t${this.below(3)}`;
    return { ...this.named('s'), name, inputParameters, ...optional, ...permissive };
  }

  private fork(depth: number): ModelStep[] {
    const own = this.named('fork');
    const before = this.known;
    const branches = Array.from({ length: 1 + this.below(3) }, () => {
      this.known = [...before];
      return this.list({ depth: depth + 1, inFork: true, least: 1 });
    });
    const inside = branches.flatMap((branch) => branch.map((step) => step.taskReferenceName));
    // In a loop a join waits for everything.
    const isOpen = this.loops.length === 0 && this.chance(0.5);
    const joinOn = isOpen ? inside.filter(() => this.chance(0.4)).slice(0, 5) : [];
    if (joinOn.length > 0) this.hasOpenBranches = true;
    // Without names the join waits for all branches, and everything in them is over.
    this.known = [...before, ...(joinOn.length > 0 ? joinOn : inside)];
    return [
      { ...own, type: 'FORK_JOIN', forkTasks: branches },
      { ...this.named('join'), type: 'JOIN', joinOn },
    ];
  }

  /** Takes one of the steps before it, or the first branch that arrives. */
  private exclusive(depth: number): ModelStep[] {
    const type = 'EXCLUSIVE_JOIN';
    // A step of another branch, or of a branch that still runs, would be a race.
    if (this.loops.length > 0 || depth > 3 || this.chance(0.5)) {
      const names = this.known.filter(() => this.chance(0.3)).slice(0, 4);
      const defaultExclusiveJoinTask = this.known.slice(-1);
      if (names.length === 0) return [this.simple()];
      return [{ ...this.named('first'), type, joinOn: names, defaultExclusiveJoinTask }];
    }
    const own = this.named('fork');
    const before = this.known;
    const branches = Array.from({ length: 1 + this.below(3) }, () => {
      this.known = [...before];
      return [this.simple()];
    });
    this.known = before;
    this.hasOpenBranches = true;
    const last = branches.map(([{ taskReferenceName }]) => taskReferenceName).reverse();
    const joinOn = this.chance(0.5) ? last : [];
    return [
      { ...own, type: 'FORK_JOIN', forkTasks: branches },
      { ...this.named('first'), type, joinOn },
    ];
  }

  /** Over items, or over a list that says what each branch is. */
  private dynamicFork(inFork: boolean): ModelStep[] {
    const own = this.named('dynamic');
    const options = {
      ...(this.chance(0.2) ? { optional: true } : {}),
      ...(this.chance(0.1) ? { permissive: true } : {}),
    };
    const fork = { ...own, ...options, ...this.forkInputs(own.taskReferenceName, inFork) };
    return [
      { ...fork, type: 'FORK_JOIN_DYNAMIC' },
      { ...this.named('join'), type: 'JOIN' },
    ];
  }

  private forkInputs(reference: string, inFork: boolean): Partial<ModelStep> {
    if (this.chance(0.7)) {
      const lists: unknown[] = [
        [],
        [this.value()],
        [{ a: this.value() }, 7, ['x']],
        Array.from({ length: 5 }, (_, n) => ({ n, a: this.value() })),
      ];
      // What is no list fails the step, and beside other branches that would race.
      if (!inFork && !this.hasOpenBranches) lists.push('${workflow.input.k.list}');
      const forkTaskInputs = lists[this.below(lists.length)];
      if (this.levels > 0 && this.other !== undefined && this.chance(0.2)) {
        return { inputParameters: { forkTaskInputs, forkTaskWorkflow: BRANCH_WORKFLOW } };
      }
      return { inputParameters: { forkTaskInputs, forkTaskName: `t${this.below(3)}` } };
    }
    const tasks = Array.from({ length: this.below(4) }, (_, n) => ({
      taskReferenceName: `${reference}_${n}`,
      ...this.branchType(),
      ...(this.chance(0.3) ? { optional: true } : {}),
    }));
    const inputs = tasks.slice(1).map((each) => [each.taskReferenceName, { a: this.value() }]);
    return {
      dynamicForkTasksParam: 'tasks',
      dynamicForkTasksInputParamName: 'inputs',
      inputParameters: { tasks, inputs: Object.fromEntries(inputs) },
    };
  }

  /** A task, or a workflow where runs may start others. */
  private branchType(): object {
    const isWorkflow = this.levels > 0 && this.other !== undefined && this.chance(0.2);
    if (!isWorkflow) return { name: `t${this.below(3)}` };
    return { type: 'SUB_WORKFLOW', subWorkflowParam: { name: BRANCH_WORKFLOW } };
  }

  /** Its type is one of its inputs. */
  private dynamic(): ModelStep {
    const inputParameters = { type: `t${this.below(3)}`, a: this.value() };
    return { ...this.named('d'), type: 'DYNAMIC', dynamicTaskNameParam: 'type', inputParameters };
  }

  private choice(depth: number, inFork: boolean): ModelStep {
    const own = this.named('switch');
    const inside = { depth: depth + 1, inFork, least: 0 };
    return {
      ...own,
      type: 'SWITCH',
      ...(this.chance(0.2) ? { evaluatorType: 'javascript' } : {}),
      expression: 'k',
      inputParameters: { k: this.value() },
      decisionCases: { x: this.list(inside), 1: this.list(inside), null: this.list(inside) },
      defaultCase: this.list(inside),
    };
  }

  /** Over a list, with a condition, or both. */
  private loop(depth: number, inFork: boolean): ModelStep {
    const own = this.named('loop');
    const condition = this.chance(0.5) ? { loopCondition: 'true' } : {};
    const lists: unknown[] = [[1, { k: 'x' }], ['${workflow.input.k}', null, 3], []];
    // What is no list fails the step, and beside other branches that would race.
    if (!inFork && !this.hasOpenBranches) lists.push('${workflow.input.k.list}');
    const items = lists[this.below(lists.length)];
    const before = this.known;
    // In its body the output of a loop is not whole yet: branches would race.
    this.known = before.filter((name) => name !== own.taskReferenceName);
    this.loops.push(own.taskReferenceName);
    const loopOver = this.list({ depth: depth + 1, inFork, least: 1 });
    this.loops.pop();
    const inside = loopOver.map((step) => step.taskReferenceName);
    this.known = [...before, ...inside];
    return {
      ...own,
      type: 'DO_WHILE',
      ...condition,
      ...('loopCondition' in condition && this.chance(0.5) ? {} : { items }),
      loopOver,
    };
  }

  private waiting(): ModelStep {
    if (this.hasCalls && this.chance(0.5)) return { ...this.named('human'), type: 'HUMAN' };
    const isTimed = !this.hasCalls || this.chance(0.7);
    // Without any time, the next alarm would end it, whenever that comes.
    const inputParameters = isTimed ? { duration: `${1 + this.below(30)}ms` } : {};
    return { ...this.named('wait'), type: 'WAIT', inputParameters };
  }

  private terminate(): ModelStep {
    const terminationStatus = this.chance(0.5) ? 'COMPLETED' : 'FAILED';
    const inputParameters = { terminationStatus, workflowOutput: { done: this.value() } };
    return { ...this.named('end'), type: 'TERMINATE', inputParameters };
  }

  private named(prefix: string): { taskReferenceName: string } {
    this.steps += 1;
    const taskReferenceName = `${prefix}${this.steps}`;
    this.known.push(taskReferenceName);
    return { taskReferenceName };
  }

  private value(): unknown {
    const step = this.known[this.below(this.known.length)] ?? 'workflow';
    const forms = [
      1,
      'x',
      null,
      '${workflow.input.k}',
      '${workflow.input}',
      '${workflow.variables.n}',
      ...(step === 'workflow'
        ? []
        : [
            `\${${step}.output}`,
            `\${${step}.output.k}`,
            `\${${step}.output.list[0]}`,
            `\${${step}.output.list[-1].q}`,
            `\${${step}.output.list[*].q}`,
            `\${${step}.output.list.length()}`,
            `\${${step}.status}`,
            `\${${step}.output.iteration}`,
            `\${${step}.output[*].k}`,
            `\${${step}.output._t0_1.k}`,
            `\${${step}.output.2}`,
            `in \${${step}.output.k} and \${workflow.input.k}!`,
          ]),
      ...this.loops.flatMap((loop) => [
        `\${${loop}.output.iteration}`,
        `\${${loop}.output.loopIndex}`,
        `\${${loop}.output.loopItem.k}`,
      ]),
    ];
    return forms[this.below(forms.length)];
  }

  private below(end: number): number {
    return this.random.between(0, end - 1);
  }

  private chance(share: number): boolean {
    return this.random.next() < share;
  }
}

/** Outputs of tasks: small, with what expressions ask for. */
export const RANDOM_OUTPUTS: readonly unknown[] = [
  {},
  { k: 'x' },
  { k: 1 },
  { k: 'quote " and \\ and é' },
  { k: null, list: [] },
  { list: [{ q: 1 }, { r: 2 }, { q: [3] }] },
  7,
  null,
];

export function randomOutput(random: SeededRandom): unknown {
  return RANDOM_OUTPUTS[random.between(0, RANDOM_OUTPUTS.length - 1)];
}
