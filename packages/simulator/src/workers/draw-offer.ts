import type { WorkerSessionRequest } from '@sluice/protocol';
import { TASK_TYPES } from '../clients/draw-task.ts';
import type { RandomStream } from '../kernel/random.ts';

export type WorkerOffer = Pick<WorkerSessionRequest, 'types' | 'capacity' | 'labels' | 'leaseMs'>;

const LABELS = [{}, { zone: 'a' }, { zone: 'b', ssd: 'yes' }];

/** What a worker offers. */
export function drawOffer(random: RandomStream): WorkerOffer {
  const types = TASK_TYPES.filter(() => random.chance(0.7));
  return {
    types: (types.length === 0 ? TASK_TYPES : types).map((type) => ({
      type,
      ...(random.chance(0.2) ? { concurrency: random.integer(1, 3) } : {}),
    })),
    capacity: {
      slots: random.integer(1, 8),
      cpu: random.pick([1, 2, 4]),
      memoryMb: random.pick([100, 1000]),
      gpu: random.integer(0, 1),
    },
    labels: random.pick(LABELS),
    leaseMs: random.pick([3000, 5000, 15_000]),
  };
}
