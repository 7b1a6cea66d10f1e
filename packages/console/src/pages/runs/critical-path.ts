/** Which steps decided how long a run took. */
import type { Step } from '../../graph/step-marks.ts';

/** A step begins within this time after the one that it waited for. */
const HANDOVER_MS = 100;

const CONTAINERS = /^(?:FORK_JOIN|JOIN|SWITCH|DECISION|DO_WHILE|FORK_JOIN_DYNAMIC|EXCLUSIVE_JOIN)$/;

interface Timed {
  readonly reference: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Walks back from the step that ended last: before each step comes the one whose end it waited
 * for, which is the latest end before its start.
 */
export function criticalPath(steps: readonly Step[], now: number): ReadonlySet<string> {
  const timed = steps.flatMap(({ reference, type, startedAt, endedAt }): Timed[] => {
    if (startedAt === null || CONTAINERS.test(type)) return [];
    return [
      { reference, from: Date.parse(startedAt), to: endedAt === null ? now : Date.parse(endedAt) },
    ];
  });
  const path = new Set<string>();
  let current = latest(timed);
  while (current !== undefined && !path.has(current.reference)) {
    path.add(current.reference);
    const { from } = current;
    current = latest(timed.filter((each) => each.to <= from + HANDOVER_MS && each.from < from));
  }
  return path;
}

function latest(steps: readonly Timed[]): Timed | undefined {
  return steps.reduce<Timed | undefined>(
    (best, step) => (best === undefined || step.to > best.to ? step : best),
    undefined,
  );
}
