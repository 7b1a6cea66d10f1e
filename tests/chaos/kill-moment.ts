import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../support/wait-until.ts';
import type { Flight } from './flight.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

/**
 * When to kill the server. The pauses make the moment random; no work has to be finished by then.
 */
export interface KillMoment {
  /** True: the load starts together with the resumes, so the kill may interrupt them. */
  readonly isEarly: boolean;
  readonly pauseMs: number;
  /** The last burst and the kill follow the next entry of this kind; undefined for none. */
  readonly trigger: 'pushed' | 'reporting' | 'acked' | undefined;
  /** Time from the last burst to the kill: how much of the burst the server can handle. */
  readonly lastPauseMs: number;
  /** True: this process is blocked meanwhile. False: it continues to send, report and resume. */
  readonly isStill: boolean;
}

interface Scene {
  readonly ledger: Ledger;
  readonly flight: Flight;
  /** Sends many requests at once. */
  readonly burst: () => void;
  readonly kill: () => void;
}

/** A round with fewer requests in flight at the kill does not count. */
export const IN_FLIGHT_MIN = 50;

const IN_FLIGHT_WANTED = 3 * IN_FLIGHT_MIN;
const TURNS_MAX = 20;
const EARLY_SHARE = 0.2;
const EARLY_MS_MAX = 120;
const LATE_MS_MAX = 450;
const LAST_PAUSE_MS_MAX = 12;
const WAIT_MS_MAX = 30_000;

const TRIGGERS = [undefined, undefined, 'pushed', 'reporting', 'acked'] as const;

export function chooseMoment(random: Random): KillMoment {
  const isEarly = random.chance(EARLY_SHARE);
  return {
    isEarly,
    pauseMs: random.between(0, isEarly ? EARLY_MS_MAX : LATE_MS_MAX),
    trigger: isEarly ? undefined : random.pick(TRIGGERS),
    lastPauseMs: random.next() * LAST_PAUSE_MS_MAX,
    isStill: random.chance(0.5),
  };
}

/** Waits for the moment and kills the server. */
export async function killAt(moment: KillMoment, scene: Scene): Promise<void> {
  const { ledger, flight, burst, kill } = scene;
  await waitUntil(() => flight.inFlight >= IN_FLIGHT_MIN, {
    what: `${IN_FLIGHT_MIN} requests are in flight`,
    timeoutMs: WAIT_MS_MAX,
  });
  await pause(moment.pauseMs);
  const { trigger } = moment;
  if (trigger !== undefined) {
    let isTriggered = false;
    ledger.onNext(trigger, () => {
      isTriggered = true;
    });
    await waitUntil(() => isTriggered, { what: `'${trigger}'`, timeoutMs: WAIT_MS_MAX });
  }
  // Usually most answers only wait for this process to read them, and few requests are in progress.
  burst();
  // This process learns some turns later that a request was sent. The server may be faster.
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    await nextTurn();
    if (flight.inFlight >= IN_FLIGHT_WANTED) break;
  }
  if (moment.isStill) spin(moment.lastPauseMs);
  else await pause(moment.lastPauseMs);
  kill();
}

/** Timers are too coarse for the stages of one commit. */
function spin(durationMs: number): void {
  const until = performance.now() + durationMs;
  while (performance.now() < until);
}
