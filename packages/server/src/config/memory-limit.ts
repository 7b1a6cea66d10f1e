import { totalmem } from 'node:os';

export interface MemoryFigures {
  /** Of the machine. */
  readonly total: number;
  /** What the container allows: nothing, or more than there is, when it does not. */
  readonly constrained: number;
}

/** The memory that this process may use: a container often allows less than the machine has. */
export function memoryLimit({ total, constrained }: MemoryFigures = figures()): number {
  return constrained > 0 ? Math.min(total, constrained) : total;
}

function figures(): MemoryFigures {
  return { total: totalmem(), constrained: process.constrainedMemory() };
}
