/**
 * Dynamic forks that somebody opened: their branches stand in the picture, a bounded number of
 * them, the failed ones first.
 */
import type { Block, Node } from './definition.ts';
import type { Mark, Step } from './step-marks.ts';

const SHOWN_FIRST = 12;
const SHOWN_MORE = 48;
/** A picture with more is no picture; the panel of the step lists the others. */
const SHOWN_MAX = 252;

/** How many branches of each opened fork are shown, by reference. */
export type OpenForks = ReadonlyMap<string, number>;

export function toggled(open: OpenForks, fork: string): OpenForks {
  const next = new Map(open);
  if (!next.delete(fork)) next.set(fork, SHOWN_FIRST);
  return next;
}

/** Undefined when no more fit. */
export function withMore(open: OpenForks, fork: string): OpenForks | undefined {
  const shown = open.get(fork) ?? 0;
  if (shown >= SHOWN_MAX) return undefined;
  return new Map(open).set(fork, Math.min(SHOWN_MAX, shown + SHOWN_MORE));
}

/** The same blocks when no fork is open. */
export function withBranches(
  blocks: readonly Block[],
  marks: ReadonlyMap<string, Mark> | undefined,
  open: OpenForks,
): readonly Block[] {
  if (open.size === 0 || marks === undefined) return blocks;
  return blocks.map((block): Block => {
    switch (block.kind) {
      case 'branches': {
        const branches = block.branches.map((branch) => {
          return { ...branch, blocks: withBranches(branch.blocks, marks, open) };
        });
        return { ...block, branches };
      }
      case 'loop':
        return { ...block, body: withBranches(block.body, marks, open) };
      case 'dynamic':
        return opened(block, marks, open);
      default:
        return block;
    }
  });
}

function opened(
  block: Block & { readonly kind: 'dynamic' },
  marks: ReadonlyMap<string, Mark>,
  open: OpenForks,
): Block {
  const shown = open.get(block.node.reference);
  const many = marks.get(block.node.reference)?.many ?? [];
  if (shown === undefined || many.length === 0) return block;
  const first = failedFirst(many).slice(0, shown);
  return { ...block, branches: first.map(nodeOf), hidden: many.length - first.length };
}

/** Otherwise in their order, so that a branch that goes on stays where it is. */
function failedFirst(steps: readonly Step[]): readonly Step[] {
  const isBad = ({ state }: Step) => state === 'failed' || state === 'timed_out';
  return [...steps.filter(isBad), ...steps.filter((step) => !isBad(step))];
}

function nodeOf({ reference, type, name, state }: Step): Node {
  return { reference, type, name, state };
}
