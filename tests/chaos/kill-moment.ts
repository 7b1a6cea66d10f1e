import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../support/wait-until.ts';
import type { Flight } from './flight.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

/** When to kill. The pauses make the moment random; nothing is expected to be done by then. */
export interface KillMoment {
  /** True: the load starts beside the resumes, and the kill may come in the middle of them. */
  readonly isEarly: boolean;
  readonly pauseMs: number;
  /** The entry that the last burst and the kill follow; undefined when they follow none. */
  readonly trigger: 'pushed' | 'reporting' | 'acked' | undefined;
  /** From the last burst to the kill: how far the server gets with it. */
  readonly lastPauseMs: number;
  /** True: this process stands still meanwhile. False: it goes on to send, report and resume. */
  readonly isStill: boolean;
}

interface Scene {
  readonly ledger: Ledger;
  readonly flight: Flight;
  /** Sends many requests at once. */
  readonly burst: () => void;
  readonly kill: () => void;
}

/** Fewer requests than this under way at the kill, and the round does not count. */
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

/** Waits for the moment and kills in it. */
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
  // Most of the time the answers wait for this process to read them and little is really under way.
  burst();
  // That a request has left is known some turns later; the server may be quicker than that.
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
