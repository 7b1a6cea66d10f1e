import type { Task } from '../api/answers.ts';

/** What tasks of one kind used, beside what was reserved for them. */
export interface UsageGroup {
  /** The program or image of commands; the type of other tasks. */
  readonly what: string;
  readonly reserved: { readonly cpu: number | null; readonly memoryMb: number | null };
  /** Attempts that were measured. */
  readonly attempts: number;
  readonly outOfMemory: number;
  readonly wallMs: Spread | null;
  /** Cores in use on average over the attempt. */
  readonly cores: Spread | null;
  readonly memoryMb: Spread | null;
  /** What to reserve instead; null when it fits, or when too few attempts were measured. */
  readonly advice: string | null;
}

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Fewer attempts say too little for an advice. */
const ADVICE_ATTEMPTS_MIN = 20;

/** A reservation that is this many times what is needed wastes a machine. */
const WASTE = 2;

/** Room above the most that was seen. */
const SPARE = 1.25;

const MIB = 2 ** 20;

type Attempt = Task['attempts'][number];

interface Measured {
  readonly task: Task;
  readonly attempt: Attempt & { readonly usage: NonNullable<Attempt['usage']> };
}

/** Groups measured attempts by what ran and what was reserved, the most frequent group first. */
export function usageGroups(tasks: readonly Task[]): UsageGroup[] {
  const groups = new Map<string, Measured[]>();
  for (const task of tasks) {
    const { cpu, memoryMb } = task.resources;
    const key = JSON.stringify([whatRan(task), cpu, memoryMb]);
    for (const attempt of task.attempts) {
      const { usage } = attempt;
      if (usage === undefined) continue;
      const group = groups.get(key) ?? [];
      group.push({ task, attempt: { ...attempt, usage } });
      groups.set(key, group);
    }
  }
  return [...groups.values()].map(groupOf).sort((a, b) => b.attempts - a.attempts);
}

function whatRan({ type, exec }: Task): string {
  const { command, image } = (exec ?? {}) as {
    readonly command?: readonly string[];
    readonly image?: string;
  };
  return image ?? command?.[0] ?? type;
}

function groupOf(measured: readonly Measured[]): UsageGroup {
  const { task } = measured[0];
  const reserved = {
    cpu: task.resources.cpu ?? null,
    memoryMb: task.resources.memoryMb ?? null,
  };
  const usages = measured.map(({ attempt }) => attempt.usage);
  const cores = spread(
    usages.flatMap(({ cpuMs, wallMs }) => (cpuMs !== undefined && wallMs ? [cpuMs / wallMs] : [])),
  );
  const memoryMb = spread(
    usages.flatMap(({ memoryPeakBytes: bytes }) => (bytes === undefined ? [] : [bytes / MIB])),
  );
  const isOver = ({ attempt }: Measured): boolean => codeOf(attempt.error) === 'out_of_memory';
  const found = { attempts: measured.length, outOfMemory: measured.filter(isOver).length };
  return {
    what: whatRan(task),
    reserved,
    ...found,
    wallMs: spread(usages.flatMap(({ wallMs }) => (wallMs === undefined ? [] : [wallMs]))),
    cores,
    memoryMb,
    advice: adviceOf({ reserved, cores, memoryMb, ...found }),
  };
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function spread(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

function adviceOf({
  reserved,
  cores,
  memoryMb,
  attempts,
  outOfMemory,
}: Pick<UsageGroup, 'reserved' | 'cores' | 'memoryMb' | 'attempts' | 'outOfMemory'>) {
  if (outOfMemory > 0 && reserved.memoryMb !== null) {
    return `more memory than ${reserved.memoryMb} MiB: ${outOfMemory} ran out of it`;
  }
  if (attempts < ADVICE_ATTEMPTS_MIN) return null;
  const parts: string[] = [];
  const memory = memoryMb && Math.ceil((memoryMb.max * SPARE) / 16) * 16;
  if (memory !== null && reserved.memoryMb !== null && reserved.memoryMb >= memory * WASTE) {
    parts.push(`memory ${memory} MiB`);
  }
  const share = cores && Math.max(0.1, Math.ceil(cores.p95 * SPARE * 10) / 10);
  if (share !== null && reserved.cpu !== null && reserved.cpu >= share * WASTE) {
    parts.push(`cpu ${share}`);
  }
  return parts.length === 0 ? null : parts.join(', ');
}
