import type { RandomStream } from '../kernel/random.ts';

/** A fault that happens at a planned time. */
export type PlannedFault =
  | {
      readonly kind: 'server killed';
      readonly at: number;
      readonly isPowerLoss: boolean;
      readonly restartAfterMs: number;
      readonly clockShiftMs: number;
    }
  | {
      readonly kind: 'server killed during a write';
      readonly at: number;
      readonly restartAfterMs: number;
      /** Time from the restart to a power loss, which may lose everything that was not synced. */
      readonly powerLossAfterMs: number;
    }
  | {
      readonly kind: 'power lost during a rename';
      readonly at: number;
      readonly restartAfterMs: number;
    }
  | { readonly kind: 'server stopped'; readonly at: number; readonly forMs: number }
  | {
      readonly kind: 'server stopped during a submit';
      readonly at: number;
      /** How much longer than the keys of the submit the standstill lasts. */
      readonly beyondMs: number;
    }
  | { readonly kind: 'clock set'; readonly at: number; readonly byMs: number }
  | {
      readonly kind: 'worker killed';
      readonly at: number;
      readonly who: number;
      readonly isNoticed: boolean;
      readonly restartAfterMs: number;
    }
  | {
      readonly kind: 'worker stopped';
      readonly at: number;
      readonly who: number;
      readonly forMs: number;
    }
  | (CutOff & { readonly kind: 'worker cut off' })
  | (CutOff & { readonly kind: 'client cut off' })
  | { readonly kind: 'disk slow'; readonly at: number; readonly forMs: number }
  | { readonly kind: 'disk full'; readonly at: number; readonly forMs: number }
  | { readonly kind: 'disk error'; readonly at: number; readonly of: 'write' | 'sync' }
  | { readonly kind: 'snapshot rots'; readonly at: number; readonly kills: boolean }
  | { readonly kind: 'append unknown'; readonly at: number; readonly hasLanded: boolean }
  | { readonly kind: 'log taken over'; readonly at: number }
  | {
      readonly kind: 'worker told to stop';
      readonly at: number;
      readonly who: number;
      readonly restartAfterMs: number;
    };

interface CutOff {
  readonly at: number;
  readonly who: number;
  readonly forMs: number;
  readonly breaks: boolean;
}

/** These are drawn separately from the others, because they wait for a certain operation. */
type WaitingKind =
  | 'server stopped during a submit'
  | 'server killed during a write'
  | 'power lost during a rename';

type FaultKind = Exclude<PlannedFault['kind'], WaitingKind>;

type Draw<K extends FaultKind> = (
  random: RandomStream,
) => Omit<Extract<PlannedFault, { kind: K }>, 'at' | 'kind'>;

const cutOff = (random: RandomStream) => ({
  who: random.integer(0, 99),
  forMs: random.logarithmic(100, 60_000),
  breaks: random.chance(0.5),
});

const FAULTS: { readonly [K in FaultKind]: Draw<K> } = {
  'server killed': (random) => ({
    isPowerLoss: random.chance(0.5),
    restartAfterMs: random.logarithmic(10, 60_000),
    clockShiftMs: random.chance(0.3) ? random.integer(-120_000, 120_000) : 0,
  }),
  'server stopped': (random) => ({
    forMs: random.chance(0.3) ? random.integer(60_000, 120_000) : random.logarithmic(100, 60_000),
  }),
  'clock set': (random) => ({ byMs: random.integer(-300_000, 300_000) }),
  'worker killed': (random) => ({
    who: random.integer(0, 99),
    isNoticed: random.chance(0.5),
    restartAfterMs: random.logarithmic(10, 60_000),
  }),
  'worker stopped': (random) => ({
    who: random.integer(0, 99),
    forMs: random.logarithmic(100, 120_000),
  }),
  'worker cut off': cutOff,
  'client cut off': cutOff,
  'disk slow': (random) => ({ forMs: random.logarithmic(100, 20_000) }),
  'disk full': (random) => ({ forMs: random.logarithmic(1000, 60_000) }),
  'disk error': (random) => ({ of: random.pick(['write', 'sync'] as const) }),
  // The bit flip is noticed only at a start, and a new snapshot follows soon. So it often kills the
  // server.
  'snapshot rots': (random) => ({ kills: random.chance(0.7) }),
  'append unknown': (random) => ({ hasLanded: random.chance(0.5) }),
  'log taken over': () => ({}),
  'worker told to stop': (random) => ({
    who: random.integer(0, 99),
    restartAfterMs: random.logarithmic(10, 20_000),
  }),
};

/** Share of worlds that are not calm and have standstills. */
const STANDSTILL_RATE = 0.25;

/**
 * A world needs at least this much time left, so that it still exists when the server continues.
 */
const STANDSTILL_MS_MAX = 160_000;

/**
 * Pauses of a server that has just executed a submit of the SDK and has not answered it yet. The
 * pause outlasts the dedupe keys of the submit, and the SDK sends the submit again meanwhile.
 */
export function drawStandstills(random: RandomStream, durationMs: number): PlannedFault[] {
  if (!random.chance(STANDSTILL_RATE) || durationMs < STANDSTILL_MS_MAX) return [];
  return Array.from({ length: random.integer(1, 2) }, () => ({
    kind: 'server stopped during a submit',
    at: Math.round(random.next() * (durationMs - STANDSTILL_MS_MAX)),
    beyondMs: random.integer(1000, 30_000),
  }));
}

/** Share of worlds that are not calm and have torn writes. */
const TORN_WRITE_RATE = 0.35;

/**
 * Kills of a server that has just begun to write to its log. Part of a batch, or all of it, may be
 * in the file without a sync. The power fails soon after the next server has read it.
 */
export function drawTornWrites(random: RandomStream, durationMs: number): PlannedFault[] {
  if (!random.chance(TORN_WRITE_RATE)) return [];
  return Array.from({ length: random.integer(1, 4) }, () => ({
    kind: 'server killed during a write',
    at: Math.round(random.next() * durationMs),
    restartAfterMs: random.logarithmic(10, 5000),
    powerLossAfterMs: random.logarithmic(1, 5000),
  }));
}

/** Share of worlds that are not calm and lose power during a rename. */
const LOST_NAME_RATE = 0.35;

/** Power losses while a file of the log is renamed. The file may then have either name. */
export function drawLostNames(random: RandomStream, durationMs: number): PlannedFault[] {
  if (!random.chance(LOST_NAME_RATE)) return [];
  return Array.from({ length: random.integer(1, 6) }, () => ({
    kind: 'power lost during a rename',
    at: Math.round(random.next() * durationMs),
    restartAfterMs: random.logarithmic(10, 5000),
  }));
}

/**
 * Draws some kinds of faults, each several times. With all kinds at once, little else would happen.
 */
export function drawFaults(random: RandomStream, durationMs: number): PlannedFault[] {
  const kinds = (Object.keys(FAULTS) as FaultKind[]).filter(() => random.chance(0.35));
  const faults = kinds.flatMap((kind) => {
    const count = Math.round(random.logarithmic(1, 12));
    return Array.from({ length: count }, () => {
      const at = Math.round(random.next() * durationMs);
      return { kind, at, ...FAULTS[kind](random) } as PlannedFault;
    });
  });
  return inOrder(faults);
}

/** Faults that would end a server before its pause is over, or end dedupe keys early. */
const SPOILS_STANDSTILL: readonly PlannedFault['kind'][] = [
  'server killed',
  'disk error',
  'snapshot rots',
  'log taken over',
  'clock set',
];

/** The faults that do not disturb a standstill. */
export function besideStandstills(faults: readonly PlannedFault[]): PlannedFault[] {
  return faults.filter(({ kind }) => !SPOILS_STANDSTILL.includes(kind));
}

export function inOrder(faults: readonly PlannedFault[]): PlannedFault[] {
  return faults.toSorted((a, b) => a.at - b.at);
}
