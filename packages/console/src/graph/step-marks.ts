/** What a run has done of each node: its state, and counts where a node stands for many steps. */
import type { Answer } from '../base/api.ts';
import { type Block, nodesIn } from './definition.ts';

export type Step = Answer<'GET /v1/runs/{id}'>['steps'][number];

export interface Mark {
  /** The step itself, or the newest iteration of it. */
  readonly step: Step;
  /** Iterations of a loop, or branches of a dynamic fork. */
  readonly many: readonly Step[];
}

const ITERATION = /__\d+/g;
const DYNAMIC = /^(?:FORK_JOIN_DYNAMIC|DYNAMIC_FORK)$/;

/** Marks by the reference of the node. */
export function marksOf(
  blocks: readonly Block[],
  steps: readonly Step[],
): ReadonlyMap<string, Mark> {
  const nodes = nodesIn(blocks);
  const known = new Set(nodes.map(({ reference }) => reference));
  const forks = nodes.filter(({ type }) => DYNAMIC.test(type)).map(({ reference }) => reference);
  const marks = new Map<string, Mark>();
  const branches = new Map<string, Step[]>();
  let lastFork = forks.at(0);
  for (const step of steps) {
    const plain = step.reference.replaceAll(ITERATION, '');
    if (known.has(plain)) {
      if (forks.includes(plain)) lastFork = plain;
      const many = marks.get(plain)?.many ?? [];
      marks.set(plain, { step, many: plain === step.reference ? many : [...many, step] });
      continue;
    }
    const fork = forks.find((name) => plain.startsWith(`_${name}_`)) ?? lastFork;
    if (fork !== undefined) branches.set(fork, [...(branches.get(fork) ?? []), step]);
  }
  for (const [fork, many] of branches) {
    const mark = marks.get(fork);
    if (mark !== undefined) marks.set(fork, { ...mark, many });
  }
  return marks;
}

/** How many of these steps are in each state, most frequent first. */
export function countsOf(steps: readonly Step[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { state } of steps) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
