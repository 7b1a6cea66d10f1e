/** What a cell of the heat map says. */
import type { Worker } from './workers-page.tsx';

export const KINDS = [
  { kind: 'slots', name: 'Slots' },
  { kind: 'cpu', name: 'CPU cores' },
  { kind: 'memoryMb', name: 'Memory MB' },
  { kind: 'diskMb', name: 'Disk MB' },
  { kind: 'gpu', name: 'GPUs' },
] as const;

export type Kind = (typeof KINDS)[number]['kind'];

export interface HeatCell {
  readonly reserved: number;
  /** Undefined where it is not measured, and for a worker that is away. */
  readonly used: number | undefined;
  /** Undefined: without a limit. */
  readonly max: number | undefined;
}

type Roomy = Pick<Worker, 'used' | 'measured' | 'capacity' | 'connected'>;

/** A task without a reservation has ended since the slots were counted. */
function usedOf(measured: Worker['measured'], kind: Kind, reserved: number): number | undefined {
  if (kind === 'slots') return measured?.slots && Math.min(measured.slots, reserved);
  return kind === 'cpu' || kind === 'memoryMb' ? measured?.[kind] : undefined;
}

export function heatCell({ used, measured, capacity, connected }: Roomy, kind: Kind): HeatCell {
  const reserved = used[kind] ?? 0;
  return {
    reserved,
    used: connected ? usedOf(measured, kind, reserved) : undefined,
    max: capacity[kind],
  };
}
