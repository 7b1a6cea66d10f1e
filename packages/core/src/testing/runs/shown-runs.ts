import { compileDefinition } from '../../workflow/compile.ts';
import type { Program } from '../../workflow/program.ts';
import { testUtf8 } from '../test-utf8.ts';
import type { ModelDefinition } from './model-steps.ts';
import type { RunModel } from './run-model.ts';

/** Runs of the core and of the naive interpreter in the same words, to compare them. */

/** Steps that a worker runs. */
const WITH_TASK: readonly string[] = ['SIMPLE', 'DYNAMIC', 'HTTP', 'CALLBACK'];

/** Once a run stops, how each step ends depends on who holds it. */
export function isSmooth({ status }: RunModel): boolean {
  return ['running', 'paused', 'succeeded'].includes(status);
}

export function compiled(definition: ModelDefinition): Program {
  const { program, problems } = compileDefinition(definition, testUtf8);
  if (program === undefined) throw new Error(JSON.stringify(problems));
  return program;
}

/** A step that is about to end counts as running. */
export function plain(state: string): string {
  return ['stopping', 'reported', 'due'].includes(state) ? 'running' : state;
}

export function parsed(text: string): unknown {
  return text === '' ? null : plainIds(JSON.parse(text));
}

/** The interpreter knows no ids of runs. */
export function plainIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\br_[a-z0-9]{20}\b/g, 'r_id'));
}

export function bytes(values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}

/** What the run model shows, and what memory shows, in the same words. */
export interface Shown {
  readonly status: string;
  readonly output: unknown;
  readonly variables: unknown;
  readonly steps: Readonly<Record<string, unknown>>;
}

export function shownModel(model: RunModel, program: Program): Shown {
  const { status, output, variables, entered } = model;
  const isSimple = (key: string): boolean => {
    const place = program.byReference.get(key.split('__')[0]);
    // Branches of dynamic forks are not in the definition.
    return place === undefined || WITH_TASK.includes(program.nodes[place].kind);
  };
  const steps = [...entered].map(([reference, { state, input, child }]) => {
    const hasTask = isSimple(reference) && child === undefined && state !== 'skipped';
    return [reference, { ...(isSmooth(model) ? { state } : {}), ...(hasTask ? { input } : {}) }];
  });
  return {
    status,
    output: status === 'succeeded' ? (output ?? null) : null,
    variables,
    steps: Object.fromEntries(steps),
  };
}
