import type { Run, Step } from '../api/answers.ts';
import { type Styles, stateText } from '../screen/styles.ts';
import { duration } from '../screen/table.ts';
import { visible } from '../screen/visible.ts';

/** A step of a definition, as far as the tree needs it. */
interface Node {
  readonly taskReferenceName?: string;
  readonly forkTasks?: readonly (readonly Node[])[];
  readonly decisionCases?: Readonly<Record<string, readonly Node[]>>;
  readonly defaultCase?: readonly Node[];
  readonly loopOver?: readonly Node[];
}

/** Iterations of a loop that are drawn: the newest ones. */
const ITERATIONS_SHOWN_MAX = 5;

/** Branches of a dynamic fork that are drawn. */
const BRANCHES_SHOWN_MAX = 5;

/** States that a reader should see first come last. */
const URGENT = ['running', 'completed_with_errors', 'cancelled', 'timed_out', 'failed'];

const MARKS: Readonly<Record<string, string>> = {
  pending: '○',
  running: '●',
  succeeded: '✓',
  completed_with_errors: '!',
  failed: '✗',
  timed_out: '✗',
  cancelled: '–',
  skipped: '–',
};

interface Options {
  readonly styles: Styles;
  readonly now: number;
  /** The definition, if it is known; without it the steps are a plain list. */
  readonly definition?: { readonly tasks?: readonly Node[] } | undefined;
}

/** The steps of a run as a tree, with states, durations and what went wrong. */
export function runTree({ steps }: Pick<Run, 'steps'>, options: Options): string[] {
  const byReference = new Map(steps.map((step) => [step.reference, step]));
  const tasks = options.definition?.tasks ?? steps.map(({ reference }) => leaf(reference));
  return branch(tasks, '', { ...options, byReference, suffix: '' });
}

interface Drawing extends Options {
  readonly byReference: ReadonlyMap<string, Step>;
  /** Iterations of the loops around the current place, as `__2`. */
  readonly suffix: string;
}

function leaf(taskReferenceName: string): Node {
  return { taskReferenceName };
}

function branch(nodes: readonly Node[], indent: string, drawing: Drawing): string[] {
  return nodes.flatMap((node, index) => {
    const isLast = index === nodes.length - 1;
    const step = drawing.byReference.get(`${node.taskReferenceName ?? ''}${drawing.suffix}`);
    const head = `${indent}${isLast ? '└─' : '├─'} `;
    const inner = `${indent}${isLast ? '   ' : '│  '}`;
    const own = `${head}${step === undefined ? node.taskReferenceName : stepText(step, drawing)}`;
    const branches = step === undefined ? [] : dynamicBranches(step, inner, drawing);
    return [own, ...inside(node, inner, drawing), ...branches];
  });
}

/** Branches of a fork and cases of a switch, each under its name. */
function inside(node: Node, indent: string, drawing: Drawing): string[] {
  const forks = (node.forkTasks ?? []).map((steps, n) => [`branch ${n + 1}`, steps] as const);
  const cases = Object.entries(node.decisionCases ?? {}).map(
    ([name, steps]) => [`case ${name}`, steps] as const,
  );
  const others = node.defaultCase ?? [];
  const lists = [
    ...forks,
    ...cases,
    ...(others.length > 0 ? [['otherwise', others] as const] : []),
  ];
  const named = lists.map(([name, steps]) => ({ name, steps, drawing }));
  const all = [...named, ...iterations(node, drawing)];
  return all.flatMap(({ name, steps, drawing: inner }, index) => {
    const isLast = index === all.length - 1;
    const head = `${indent}${isLast ? '└─' : '├─'} ${drawing.styles.dim(visible(name))}`;
    return [head, ...branch(steps, `${indent}${isLast ? '   ' : '│  '}`, inner)];
  });
}

/**
 * The branches of a dynamic fork, as its input lists them: how many are in which state, and some of
 * them, those that need attention first.
 */
function dynamicBranches(fork: Step, indent: string, drawing: Drawing): string[] {
  const references = branchReferences(fork);
  const steps = references.flatMap((reference) => {
    return drawing.byReference.get(reference + drawing.suffix) ?? [];
  });
  if (steps.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { state } of steps) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${count} ${state}`);
  const missing = references.length - steps.length;
  if (missing > 0) states.push(`${missing} not listed here`);
  const rank = ({ state }: Step): number => URGENT.indexOf(state);
  const shown = steps.toSorted((a, b) => rank(b) - rank(a)).slice(0, BRANCHES_SHOWN_MAX);
  const more = steps.length - shown.length;
  const noun = references.length === 1 ? 'branch' : 'branches';
  const head = drawing.styles.dim(`${references.length} ${noun}: ${states.join(', ')}`);
  const lines = shown.map((step) => stepText(step, drawing));
  if (more > 0) lines.push(drawing.styles.dim(`and ${more} more`));
  return [
    `${indent}└─ ${head}`,
    ...lines.map((line, index) => {
      return `${indent}   ${index === lines.length - 1 ? '└─' : '├─'} ${line}`;
    }),
  ];
}

/** The input of a dynamic fork. */
interface ForkInput {
  /** The references begin with it. */
  readonly reference?: string;
  readonly items?: readonly unknown[];
  readonly branches?: readonly { readonly reference: string }[];
}

function branchReferences({ type, input }: Step): string[] {
  if (type !== 'FORK_JOIN_DYNAMIC' || typeof input !== 'object' || input === null) return [];
  const { reference, items = [], branches } = input as ForkInput;
  if (branches !== undefined) return branches.map((each) => each.reference);
  return items.map((_, index) => `${reference}${index}`);
}

/** The newest iterations of a loop, oldest first. */
function iterations({ loopOver = [] }: Node, drawing: Drawing) {
  const { byReference, suffix } = drawing;
  const first = `${loopOver[0]?.taskReferenceName}${suffix}`;
  const numbers = [...byReference.keys()].flatMap((reference) => {
    const rest = reference.startsWith(`${first}__`) ? reference.slice(first.length + 2) : '';
    return /^\d+$/.test(rest) ? [Number(rest)] : [];
  });
  return numbers
    .sort((a, b) => a - b)
    .slice(-ITERATIONS_SHOWN_MAX)
    .map((number) => ({
      name: `iteration ${number}`,
      steps: loopOver,
      drawing: { ...drawing, suffix: `${suffix}__${number}` },
    }));
}

function stepText(step: Step, { styles, now }: Drawing): string {
  const { reference, type, name, state, attempt, error, startedAt, endedAt, childRunId } = step;
  const mark = MARKS[state] ?? '?';
  const kind = type === 'SIMPLE' && name !== reference ? ` (${visible(name)})` : '';
  const shown = type === 'SIMPLE' ? kind : ` ${styles.dim(type)}`;
  const times = startedAt === null ? '' : `  ${tookText(startedAt, endedAt, now)}`;
  const tries = attempt > 1 ? `  attempt ${attempt}` : '';
  const child = !childRunId ? '' : `  ${childRunId}`;
  const why = error === null ? '' : `  ${visible(error.message)}`;
  const all = `${stateText(state, styles)}${times}${tries}${child}${why}`;
  return `${mark} ${visible(reference)}${shown}  ${all}`;
}

function tookText(startedAt: string, endedAt: string | null, now: number): string {
  const until = endedAt === null ? now : Date.parse(endedAt);
  return duration(Math.max(0, until - Date.parse(startedAt)));
}
