/** A definition as a tree of blocks, whatever version of Conductor's words it uses. */

export interface Node {
  readonly reference: string;
  /** Type of the step, such as SIMPLE. */
  readonly type: string;
  /** Task type or workflow, where there is one. */
  readonly name: string;
  /** Only branches of a dynamic fork have one; other nodes have marks. */
  readonly state?: string;
}

export interface Branch {
  /** The case of a SWITCH. */
  readonly label: string;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly kind: 'step'; readonly node: Node }
  | { readonly kind: 'branches'; readonly node: Node; readonly branches: readonly Branch[] }
  | { readonly kind: 'loop'; readonly node: Node; readonly body: readonly Block[] }
  | {
      readonly kind: 'dynamic';
      readonly node: Node;
      /** Set when the fork is open: the branches that are shown. */
      readonly branches?: readonly Node[];
      /** How many branches are not shown. */
      readonly hidden?: number;
    };

type Fields = Readonly<Record<string, unknown>>;

const DEPTH_MAX = 20;

/** The blocks of a definition. Whatever is not understood becomes a plain step. */
export function blocksOf(definition: unknown): Block[] {
  return sequence((definition as Fields | undefined)?.tasks, 0);
}

function sequence(tasks: unknown, depth: number): Block[] {
  if (!Array.isArray(tasks) || depth > DEPTH_MAX) return [];
  return tasks.filter(isFields).map((task) => blockOf(task, depth));
}

function blockOf(task: Fields, depth: number): Block {
  const node = nodeOf(task);
  switch (node.type) {
    case 'FORK_JOIN':
    case 'FORK': {
      const branches = listOf(task.forkTasks).map((tasks) => ({
        label: '',
        blocks: sequence(tasks, depth + 1),
      }));
      return { kind: 'branches', node, branches };
    }
    case 'SWITCH':
    case 'DECISION': {
      const cases = Object.entries((task.decisionCases as Fields | undefined) ?? {});
      const others = { label: 'else', blocks: sequence(task.defaultCase, depth + 1) };
      const branches = cases.map(([label, tasks]) => ({
        label,
        blocks: sequence(tasks, depth + 1),
      }));
      return { kind: 'branches', node, branches: [...branches, others] };
    }
    case 'DO_WHILE':
      return { kind: 'loop', node, body: sequence(task.loopOver, depth + 1) };
    case 'FORK_JOIN_DYNAMIC':
    case 'DYNAMIC_FORK':
      return { kind: 'dynamic', node };
    default:
      return { kind: 'step', node };
  }
}

function nodeOf(task: Fields): Node {
  const reference = String(task.taskReferenceName ?? task.name ?? '?');
  const child = (task.subWorkflowParam as Fields | undefined)?.name;
  return { reference, type: String(task.type ?? 'SIMPLE'), name: String(child ?? task.name ?? '') };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Every node, in the order of the definition. */
export function nodesIn(blocks: readonly Block[]): Node[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'branches') {
      return [block.node, ...block.branches.flatMap((branch) => nodesIn(branch.blocks))];
    }
    return block.kind === 'loop' ? [block.node, ...nodesIn(block.body)] : [block.node];
  });
}
