import { setImmediate as nextTurn } from 'node:timers/promises';

/** A promise whose state a test can read. */
export interface WatchedAnswer {
  status: 'waiting' | 'answered' | 'refused';
  value: unknown;
}

export function watch(promise: Promise<unknown>): WatchedAnswer {
  const watched: WatchedAnswer = { status: 'waiting', value: undefined };
  promise.then(
    (value) => Object.assign(watched, { status: 'answered', value }),
    (value: unknown) => Object.assign(watched, { status: 'refused', value }),
  );
  return watched;
}

/** After this, everything has happened that needs no outside event. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}
