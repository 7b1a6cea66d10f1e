/**
 * Places for a definition. A definition is nested, not an arbitrary graph, so each block is laid
 * out by itself and stacked below the one before: linear in the number of steps, and a change in
 * one branch moves nothing in another.
 */
import type { Block, Branch, Node } from './definition.ts';

export const NODE_WIDTH = 188;
export const NODE_HEIGHT = 46;
const GAP_X = 20;
const GAP_Y = 30;
const LOOP_PAD = 16;
/** Branches of an open fork stand in rows: side by side they would be too wide to read. */
const BRANCHES_PER_ROW = 4;

/** A step, a dynamic fork that can be opened or closed, or the branches that are not shown. */
type Role = 'step' | 'closed' | 'open' | 'more';

export interface PlacedNode {
  readonly node: Node;
  readonly x: number;
  readonly y: number;
  readonly role: Role;
}

export interface PlacedEdge {
  readonly from: readonly [number, number];
  readonly to: readonly [number, number];
  readonly label: string;
}

interface PlacedLoop {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly loops: readonly PlacedLoop[];
}

/** A laid out part: where lines enter at its top, and leave at its bottom. */
interface Part extends Layout {
  readonly entries: readonly Port[];
  readonly exits: readonly Port[];
}

interface Port {
  readonly at: readonly [number, number];
  readonly label: string;
}

export function layoutOf(blocks: readonly Block[]): Layout {
  return column(blocks);
}

function column(blocks: readonly Block[]): Part {
  const parts = blocks.map(partOf);
  const width = Math.max(NODE_WIDTH, ...parts.map((part) => part.width));
  const nodes: PlacedNode[] = [];
  const edges: PlacedEdge[] = [];
  const loops: PlacedLoop[] = [];
  let y = 0;
  let entries: readonly Port[] = [];
  let open: readonly Port[] = [];
  for (const [index, part] of parts.entries()) {
    const moved = move(part, (width - part.width) / 2, y);
    nodes.push(...moved.nodes);
    edges.push(...moved.edges, ...joined(open, moved.entries));
    loops.push(...moved.loops);
    if (index === 0) entries = moved.entries;
    open = moved.exits;
    y += part.height + GAP_Y;
  }
  return { width, height: Math.max(0, y - GAP_Y), nodes, edges, loops, entries, exits: open };
}

function joined(from: readonly Port[], to: readonly Port[]): PlacedEdge[] {
  return from.flatMap((exit) =>
    to.map((entry) => ({ from: exit.at, to: entry.at, label: exit.label || entry.label })),
  );
}

function partOf(block: Block): Part {
  switch (block.kind) {
    case 'branches':
      return branching(block.node, block.branches);
    case 'loop':
      return looping(block.node, block.body);
    case 'dynamic':
      return forking(block.node, block.branches, block.hidden ?? 0);
    default:
      return single(block.node);
  }
}

function single(node: Node, role: Role = 'step'): Part {
  const middle = NODE_WIDTH / 2;
  return {
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    nodes: [{ node, x: 0, y: 0, role }],
    edges: [],
    loops: [],
    entries: [{ at: [middle, 0], label: '' }],
    exits: [{ at: [middle, NODE_HEIGHT], label: '' }],
  };
}

/** The node, its branches side by side below it. */
function branching(node: Node, branches: readonly Branch[]): Part {
  const head = single(node);
  const parts = branches.map(({ label, blocks }) => ({ label, part: column(blocks) }));
  const filled = parts.filter(({ part }) => part.nodes.length > 0);
  const empty = parts.filter(({ part }) => part.nodes.length === 0);
  const total = filled.reduce((sum, { part }) => sum + part.width + GAP_X, -GAP_X);
  const width = Math.max(NODE_WIDTH, total);
  const top = move(head, (width - NODE_WIDTH) / 2, 0);
  const [start] = top.exits;
  const nodes = [...top.nodes];
  const edges: PlacedEdge[] = [];
  const loops: PlacedLoop[] = [];
  // An empty case leads straight on.
  const exits: Port[] = empty.map(({ label }) => ({ at: start.at, label }));
  let x = (width - Math.max(total, 0)) / 2;
  for (const { label, part } of filled) {
    const moved = move(part, x, NODE_HEIGHT + GAP_Y);
    nodes.push(...moved.nodes);
    edges.push(...moved.edges, ...joined([{ at: start.at, label }], moved.entries));
    loops.push(...moved.loops);
    exits.push(...moved.exits);
    x += part.width + GAP_X;
  }
  const deepest = Math.max(0, ...filled.map(({ part }) => part.height));
  const height = filled.length === 0 ? NODE_HEIGHT : NODE_HEIGHT + GAP_Y + deepest;
  return { width, height, nodes, edges, loops, entries: top.entries, exits: unique(exits, start) };
}

function unique(exits: readonly Port[], start: Port): readonly Port[] {
  return exits.length === 0 ? [start] : exits;
}

function looping(node: Node, body: readonly Block[]): Part {
  return framed(node, 'step', column(body));
}

/** The node alone, or with its branches in a frame. */
function forking(node: Node, branches: readonly Node[] | undefined, hidden: number): Part {
  if (branches === undefined) return single(node, 'closed');
  const more = { reference: node.reference, type: 'MORE', name: String(hidden) };
  const cells = branches.map((branch) => single(branch));
  return framed(node, 'open', grid(hidden === 0 ? cells : [...cells, single(more, 'more')]));
}

/** Branches run at once and in no order, so no lines lead to them. */
function grid(cells: readonly Part[]): Part {
  const columns = Math.min(BRANCHES_PER_ROW, Math.max(1, cells.length));
  const rows = Math.ceil(cells.length / columns);
  const nodes = cells.flatMap((cell, index) => {
    const x = (index % columns) * (NODE_WIDTH + GAP_X);
    return move(cell, x, Math.floor(index / columns) * (NODE_HEIGHT + GAP_X)).nodes;
  });
  return {
    width: columns * (NODE_WIDTH + GAP_X) - GAP_X,
    height: rows * (NODE_HEIGHT + GAP_X) - GAP_X,
    nodes,
    edges: [],
    loops: [],
    entries: [],
    exits: [],
  };
}

/** The node, and what is inside of it in a frame below it. The line goes on from the frame. */
function framed(node: Node, role: Role, inner: Part): Part {
  const width = Math.max(NODE_WIDTH, inner.width) + LOOP_PAD * 2;
  const head = move(single(node, role), (width - NODE_WIDTH) / 2, LOOP_PAD);
  const below = LOOP_PAD + NODE_HEIGHT + GAP_Y;
  const moved = move(inner, (width - inner.width) / 2, below);
  const height =
    (inner.nodes.length === 0 ? LOOP_PAD + NODE_HEIGHT : below + inner.height) + LOOP_PAD;
  return {
    width,
    height,
    nodes: [...head.nodes, ...moved.nodes],
    edges: [...joined(head.exits, moved.entries), ...moved.edges],
    loops: [{ x: 0, y: 0, width, height }, ...moved.loops],
    entries: head.entries,
    exits: [{ at: [width / 2, height], label: '' }],
  };
}

function move(part: Part, x: number, y: number): Part {
  const port = ({ at, label }: Port): Port => ({ at: [at[0] + x, at[1] + y], label });
  return {
    ...part,
    nodes: part.nodes.map((node) => ({ ...node, x: node.x + x, y: node.y + y })),
    edges: part.edges.map(({ from, to, label }) => ({
      from: [from[0] + x, from[1] + y],
      to: [to[0] + x, to[1] + y],
      label,
    })),
    loops: part.loops.map((loop) => ({ ...loop, x: loop.x + x, y: loop.y + y })),
    entries: part.entries.map(port),
    exits: part.exits.map(port),
  };
}
