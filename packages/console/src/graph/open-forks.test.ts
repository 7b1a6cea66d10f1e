import { expect, test } from 'vitest';
import { blocksOf } from './definition.ts';
import { layoutOf, NODE_HEIGHT, NODE_WIDTH } from './layout.ts';
import { toggled, withBranches, withMore } from './open-forks.ts';
import { marksOf, type Step } from './step-marks.ts';

const BLOCKS = blocksOf({
  tasks: [
    {
      taskReferenceName: 'loop',
      type: 'DO_WHILE',
      loopOver: [{ taskReferenceName: 'each', type: 'FORK_JOIN_DYNAMIC' }],
    },
    { taskReferenceName: 'last', name: 'x' },
  ],
});

/** A run whose fork has this many branches. Number 30 failed. */
function marks(count: number) {
  const branch = (_: unknown, n: number) => ({
    reference: `_each_${n}`,
    type: 'SIMPLE',
    name: 'cut',
    state: n === 30 ? 'failed' : 'succeeded',
  });
  const steps = [{ reference: 'each', state: 'running' }, ...Array.from({ length: count }, branch)];
  return marksOf(BLOCKS, steps as Step[]);
}

const references = (blocks: typeof BLOCKS) =>
  layoutOf(blocks).nodes.map(({ node }) => node.reference);

test('a closed fork is one node, whatever it has', () => {
  expect(withBranches(BLOCKS, marks(100), new Map())).toBe(BLOCKS);
  expect(references(BLOCKS)).toEqual(['loop', 'each', 'last']);
});

test('an open fork shows some branches, the failed ones first, and how many there are', () => {
  const open = toggled(new Map(), 'each');

  const blocks = withBranches(BLOCKS, marks(100), open);

  const { nodes } = layoutOf(blocks);
  const inFork = nodes.slice(2, -2).map(({ node }) => node.reference);
  expect(inFork).toHaveLength(12);
  expect(inFork.slice(0, 2)).toEqual(['_each_30', '_each_0']);
  expect(nodes.at(-2)).toMatchObject({ role: 'more', node: { reference: 'each', name: '88' } });
  expect(nodes.at(-1)?.node.reference).toBe('last');
});

test('more are shown on demand, up to a bound', () => {
  let open = toggled(new Map(), 'each');
  for (let next = withMore(open, 'each'); next !== undefined; next = withMore(open, 'each')) {
    open = next;
  }

  const { nodes } = layoutOf(withBranches(BLOCKS, marks(10_000), open));

  expect(nodes.filter(({ node }) => node.reference.startsWith('_each_'))).toHaveLength(252);
  expect(nodes.find(({ role }) => role === 'more')?.node.name).toBe('9748');
});

test('the branches have places that do not overlap, and a second click closes the fork', () => {
  const open = toggled(new Map(), 'each');
  const { nodes, width, height } = layoutOf(withBranches(BLOCKS, marks(9), open));

  const places = nodes.map(({ x, y }) => `${x} ${y}`);

  expect(new Set(places).size).toBe(nodes.length);
  for (const { x, y } of nodes) {
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + NODE_WIDTH).toBeLessThanOrEqual(width);
    expect(y + NODE_HEIGHT).toBeLessThanOrEqual(height);
  }
  expect(toggled(open, 'each').size).toBe(0);
});
