/**
 * Reads retry policies, timeouts, resources and constraints from the texts in events, according to
 * the contract. This is a second implementation, so that a mistake in the core's parser shows.
 */

interface RetryWords {
  readonly maxAttempts?: number;
  readonly backoff?: 'fixed' | 'linear' | 'exponential';
  readonly delayMs?: number;
  readonly maxDelayMs?: number;
  readonly jitter?: boolean;
  readonly delaysMs?: readonly number[];
}

function wordsOf<T extends object>(text: string): T {
  return (text === '' ? {} : JSON.parse(text)) as T;
}

export function attemptsMax(retry: string): number {
  const { maxAttempts, delaysMs } = wordsOf<RetryWords>(retry);
  return maxAttempts ?? (delaysMs === undefined ? 3 : delaysMs.length + 1);
}

/** How long a task waits after a failed attempt. Jitter adds up to a quarter. */
export function backoffRange(retry: string, attempt: number): { least: number; most: number } {
  const words = wordsOf<RetryWords>(retry);
  const rungs = words.delaysMs ?? [];
  const rung = rungs.at(Math.min(attempt, rungs.length) - 1) ?? 0;
  const least = words.delaysMs === undefined ? growing(words, attempt) : rung;
  const most = (words.jitter ?? true) ? least * 1.25 : least;
  return { least: Math.floor(least), most };
}

function growing(words: RetryWords, attempt: number): number {
  const { backoff = 'exponential', delayMs = 1000 } = words;
  const { maxDelayMs = Math.max(delayMs, 60_000) } = words;
  const factor = { fixed: 1, linear: attempt, exponential: 2 ** (attempt - 1) }[backoff];
  return Math.min(delayMs * factor, maxDelayMs);
}

interface TimeoutWords {
  readonly queueMs: number;
  readonly runMs: number;
  readonly heartbeatMs: number;
  readonly totalMs: number;
}

const NEVER = Number.POSITIVE_INFINITY;

export function timeoutsOf(timeouts: string): TimeoutWords {
  const unlimited = { queueMs: NEVER, runMs: NEVER, heartbeatMs: NEVER, totalMs: NEVER };
  return { ...unlimited, ...wordsOf<Partial<TimeoutWords>>(timeouts) };
}

/** When the total time of a task is over. */
export function totalDeadline(task: {
  readonly timeouts: string;
  readonly submittedAt: number;
  readonly retriedAt: number;
}): number {
  return (task.retriedAt || task.submittedAt) + timeoutsOf(task.timeouts).totalMs;
}

/** Amounts by kind, in thousandths. Custom kinds have a prefix. */
type Amounts = ReadonlyMap<string, number>;

export interface ResourceWords {
  readonly cpu?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly gpu?: number;
  readonly slots?: number;
  readonly custom?: Readonly<Record<string, number>>;
}

function amountsOf({ custom = {}, ...kinds }: ResourceWords): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const [kind, value] of Object.entries(kinds)) amounts.set(kind, Math.round(value * 1000));
  for (const [kind, value] of Object.entries(custom)) {
    amounts.set(`custom ${kind}`, Math.round(value * 1000));
  }
  return amounts;
}

interface ShapeWords {
  readonly resources?: ResourceWords;
  readonly constraints?: readonly string[];
}

export interface Needs {
  readonly amounts: Amounts;
  readonly constraints: readonly string[];
}

const known = new Map<string, Needs>();

/**
 * What a task of this shape needs. It always needs one slot, also when it names other resources.
 */
export function needsOf(shape: string): Needs {
  let needs = known.get(shape);
  if (needs === undefined) {
    const { resources = {}, constraints = [] } = wordsOf<ShapeWords>(shape);
    needs = { amounts: amountsOf({ slots: 1, ...resources }), constraints };
    known.set(shape, needs);
  }
  return needs;
}

/** Kinds that are unlimited when the worker does not state them. */
const UNLIMITED: readonly string[] = ['cpu', 'memoryMb', 'diskMb'];

/** The first kind that the tasks together need more of than is offered; undefined when all fit. */
export function lackingKind(offer: ResourceWords, tasks: Iterable<Needs>): string | undefined {
  const offered = amountsOf(offer);
  const used = new Map<string, number>();
  for (const { amounts } of tasks) {
    for (const [kind, amount] of amounts) used.set(kind, (used.get(kind) ?? 0) + amount);
  }
  for (const [kind, amount] of used) {
    const most = offered.get(kind) ?? (UNLIMITED.includes(kind) ? NEVER : 0);
    if (amount > most) return kind;
  }
  return undefined;
}

/** Whether a worker with these labels satisfies the constraint. */
export function meets(labels: ReadonlyMap<string, string>, constraint: string): boolean {
  const [, label, list] = /^(\S+) (?:not )?in \((.*)\)$/.exec(constraint) ?? [];
  if (label !== undefined) {
    const isListed = list.split(', ').includes(labels.get(label) ?? '');
    return constraint.startsWith(`${label} in `) ? isListed : !isListed;
  }
  const [first, operator, ...rest] = constraint.split(' ');
  if (first === 'exists') return labels.has(operator);
  const isSame = labels.get(first) === rest.join(' ');
  return operator === '==' ? isSame : !isSame;
}
