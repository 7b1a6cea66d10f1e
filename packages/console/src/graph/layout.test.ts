import { expect, test } from 'vitest';
import { blocksOf, nodesIn } from './definition.ts';
import { layoutOf, NODE_HEIGHT, NODE_WIDTH } from './layout.ts';

const step = (taskReferenceName: string) => ({ name: 'echo', taskReferenceName });

const DEFINITION = {
  tasks: [
    step('first'),
    {
      taskReferenceName: 'choose',
      type: 'SWITCH',
      decisionCases: {
        long: [
          {
            taskReferenceName: 'fork',
            type: 'FORK_JOIN',
            forkTasks: [[step('a')], [step('b'), step('c')]],
          },
          { taskReferenceName: 'join', type: 'JOIN' },
        ],
      },
    },
    { taskReferenceName: 'again', type: 'DO_WHILE', loopOver: [step('body')] },
    { taskReferenceName: 'each', type: 'FORK_JOIN_DYNAMIC' },
    step('last'),
  ],
};

test('every step has a place, and no two overlap', () => {
  const blocks = blocksOf(DEFINITION);

  const { nodes, width, height } = layoutOf(blocks);

  expect(nodes.map(({ node }) => node.reference)).toEqual(
    nodesIn(blocks).map(({ reference }) => reference),
  );
  for (const one of nodes) {
    expect(one.x).toBeGreaterThanOrEqual(0);
    expect(one.x + NODE_WIDTH).toBeLessThanOrEqual(width);
    expect(one.y + NODE_HEIGHT).toBeLessThanOrEqual(height);
    for (const other of nodes.filter((each) => each !== one)) {
      const isApart =
        Math.abs(one.x - other.x) >= NODE_WIDTH || Math.abs(one.y - other.y) >= NODE_HEIGHT;
      expect([one.node.reference, other.node.reference, isApart]).toContain(true);
    }
  }
});

test('lines lead down, from the step before to the one after', () => {
  const { edges, nodes } = layoutOf(blocksOf(DEFINITION));

  for (const { from, to } of edges) expect(to[1]).toBeGreaterThan(from[1]);
  const top = (reference: string) => {
    const { x, y } = nodes.find(
      ({ node }) => node.reference === reference,
    ) as (typeof nodes)[number];
    return [x + NODE_WIDTH / 2, y];
  };
  const into = (reference: string) =>
    edges.filter(({ to }) => to.join() === top(reference).join()).length;
  expect([into('a'), into('b'), into('c'), into('join'), into('body')]).toEqual([1, 1, 1, 2, 1]);
  // From the end of the long case, and past it when no case was taken.
  expect(into('again')).toBe(2);
});

test('an empty case is a line with the name of the case', () => {
  const { edges } = layoutOf(blocksOf(DEFINITION));

  expect(edges.map(({ label }) => label).filter((label) => label !== '')).toEqual(['long', 'else']);
});

test('a loop has a frame around its body', () => {
  const { loops, nodes } = layoutOf(blocksOf(DEFINITION));
  const [{ x, y, width, height }] = loops;
  const body = nodes.find(({ node }) => node.reference === 'body') as (typeof nodes)[number];

  expect(body.x > x && body.x + NODE_WIDTH < x + width).toBe(true);
  expect(body.y > y && body.y + NODE_HEIGHT < y + height).toBe(true);
});

test('a definition of thousands of steps is laid out, and one that is broken has no steps', () => {
  const tasks = Array.from({ length: 5000 }, (_, index) => step(`s${index}`));

  expect(layoutOf(blocksOf({ tasks })).nodes).toHaveLength(5000);
  for (const broken of [undefined, null, {}, { tasks: 'no' }, { tasks: [1, null, 'x'] }]) {
    expect(layoutOf(blocksOf(broken)).nodes).toEqual([]);
  }
});
