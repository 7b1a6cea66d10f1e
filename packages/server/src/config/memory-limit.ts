import { totalmem } from 'node:os';

export interface MemoryFigures {
  /** Memory of the machine. */
  readonly total: number;
  /** The container's limit: 0, or more than `total`, when there is none. */
  readonly constrained: number;
}

/** The memory that this process may use: a container often allows less than the machine has. */
export function memoryLimit({ total, constrained }: MemoryFigures = figures()): number {
  return constrained > 0 ? Math.min(total, constrained) : total;
}

function figures(): MemoryFigures {
  return { total: totalmem(), constrained: process.constrainedMemory() };
}
