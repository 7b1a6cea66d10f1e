import type { RandomStream } from '../../kernel/random.ts';

interface At {
  readonly at: number;
}

interface For extends At {
  readonly forMs: number;
}

/** A fault of a world with several servers. `who` counts the servers. */
export type ClusterFault =
  | (At & { readonly kind: 'owner killed'; readonly restartMs: number; readonly isSilent: boolean })
  | (At & { readonly kind: 'server killed'; readonly who: number; readonly restartMs: number })
  | (At & { readonly kind: 'all killed'; readonly restartMs: number })
  | (For & { readonly kind: 'owner stopped' })
  | (For & { readonly kind: 'owner stopped during a renewal' })
  | (For & { readonly kind: 'owner stopped during a trim' })
  | (For & { readonly kind: 'server stopped'; readonly who: number })
  | (For & {
      readonly kind: 'owner cut from the database';
      readonly direction: Direction;
      /** Before the cut, answers of the database take up to this long. */
      readonly slowMs: number;
    })
  | (For & {
      readonly kind: 'link cut';
      readonly who: number;
      /** Of another server, or of the database. */
      readonly other: number;
      readonly direction: Direction;
    })
  | (At & { readonly kind: 'connections of the owner reset' })
  | (At & { readonly kind: 'clock set'; readonly who: number; readonly byMs: number })
  | (At & { readonly kind: 'clock of the database set'; readonly byMs: number })
  | (For & { readonly kind: 'database restarted' })
  | (For & { readonly kind: 'database slow'; readonly ms: number })
  | (For & { readonly kind: 'database read-only' })
  | (For & {
      readonly kind: 'replica stuck';
      /** What an administrator does about it. */
      readonly remedy: 'wait' | 'terminate' | 'terminate and fail over' | 'fail over';
    })
  | (At & { readonly kind: 'hand-off' })
  | (At & { readonly kind: 'level raised' })
  | (For & { readonly kind: 'database went back'; readonly ageMs: number })
  | (For & {
      readonly kind: 'database went back after a claim';
      /** The owner is stopped meanwhile, and then hears late from the database. */
      readonly stopMs: number;
      readonly slowMs: number;
    });

type Direction = 'both' | 'there' | 'back';

type Draw = (random: RandomStream, at: number) => ClusterFault;

const DIRECTIONS: readonly Direction[] = ['both', 'there', 'back'];

const KINDS: readonly (readonly [weight: number, draw: Draw])[] = [
  [
    4,
    (random, at) => ({
      kind: 'owner killed',
      at,
      restartMs: random.logarithmic(200, 20_000),
      isSilent: random.chance(0.3),
    }),
  ],
  [
    2,
    (random, at) => ({
      kind: 'server killed',
      at,
      who: random.integer(0, 3),
      restartMs: random.logarithmic(200, 10_000),
    }),
  ],
  [1, (random, at) => ({ kind: 'all killed', at, restartMs: random.logarithmic(200, 5_000) })],
  [3, (random, at) => ({ kind: 'owner stopped', at, forMs: random.logarithmic(1_000, 30_000) })],
  [
    2,
    (random, at) => ({
      kind: 'owner stopped during a renewal',
      at,
      forMs: random.logarithmic(3_000, 8_000),
    }),
  ],
  [
    2,
    (random, at) => ({
      kind: 'owner stopped during a trim',
      at,
      forMs: random.logarithmic(6_000, 20_000),
    }),
  ],
  [
    2,
    (random, at) => ({
      kind: 'server stopped',
      at,
      who: random.integer(0, 3),
      forMs: random.logarithmic(1_000, 30_000),
    }),
  ],
  [
    3,
    (random, at) => ({
      kind: 'owner cut from the database',
      at,
      forMs: random.logarithmic(2_000, 15_000),
      direction: random.pick(DIRECTIONS),
      slowMs: random.pick([0, 1_900]),
    }),
  ],
  [
    3,
    (random, at) => ({
      kind: 'link cut',
      at,
      forMs: random.logarithmic(500, 15_000),
      who: random.integer(0, 3),
      other: random.integer(0, 4),
      direction: random.pick(DIRECTIONS),
    }),
  ],
  [2, (_, at) => ({ kind: 'connections of the owner reset', at })],
  [
    1,
    (random, at) => ({
      kind: 'clock set',
      at,
      who: random.integer(0, 3),
      byMs: Math.round((random.next() - 0.5) * 7_200_000),
    }),
  ],
  [
    2,
    (random, at) => ({
      kind: 'clock of the database set',
      at,
      byMs: Math.round((random.chance(0.7) ? 1 : -1) * random.logarithmic(500, 60_000)),
    }),
  ],
  [1, (random, at) => ({ kind: 'database restarted', at, forMs: random.logarithmic(50, 8_000) })],
  [
    2,
    (random, at) => ({
      kind: 'database slow',
      at,
      forMs: random.logarithmic(500, 10_000),
      ms: random.logarithmic(10, 8_000),
    }),
  ],
  [1, (random, at) => ({ kind: 'database read-only', at, forMs: random.logarithmic(100, 5_000) })],
  [
    3,
    (random, at) => ({
      kind: 'replica stuck',
      at,
      forMs: random.logarithmic(200, 12_000),
      remedy: random.pick(['wait', 'terminate', 'terminate and fail over', 'fail over'] as const),
    }),
  ],
  [2, (_, at) => ({ kind: 'hand-off', at })],
  [1, (_, at) => ({ kind: 'level raised', at })],
];

const WEIGHTS = KINDS.reduce((sum, [weight]) => sum + weight, 0);

/** The first owner needs a moment. */
const FIRST_AT = 2_000;

/** Share of worlds without faults. */
const CALM_RATE = 0.05;

/** Share of worlds in which the database goes back to an earlier state. */
const WENT_BACK_RATE = 0.25;

export function drawClusterFaults(random: RandomStream, durationMs: number): ClusterFault[] {
  if (random.chance(CALM_RATE)) return [];
  const count = random.integer(2, 12);
  const faults = Array.from({ length: count }, () => drawOne(random, durationMs));
  if (random.chance(WENT_BACK_RATE)) faults.push(drawLoss(random, durationMs));
  return faults.toSorted((a, b) => a.at - b.at);
}

function drawLoss(random: RandomStream, durationMs: number): ClusterFault {
  const at = durationMs * (0.2 + 0.4 * random.next());
  const forMs = random.logarithmic(20, 500);
  if (random.chance(0.4)) {
    return { kind: 'database went back', at, forMs, ageMs: random.logarithmic(20, 10_000) };
  }
  const stopMs = random.logarithmic(200, 2_000);
  const slowMs = random.logarithmic(10, 400);
  return { kind: 'database went back after a claim', at, forMs, stopMs, slowMs };
}

function drawOne(random: RandomStream, durationMs: number): ClusterFault {
  const at = FIRST_AT + random.next() * (durationMs - FIRST_AT);
  let left = random.next() * WEIGHTS;
  for (const [weight, draw] of KINDS) {
    left -= weight;
    if (left < 0) return draw(random, at);
  }
  return { kind: 'hand-off', at };
}
