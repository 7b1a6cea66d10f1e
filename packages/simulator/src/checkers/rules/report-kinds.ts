/** Reports that end an attempt, with their numbers in events. */
const FINAL: Readonly<Record<string, number>> = {
  succeeded: 1,
  failed: 2,
  cancelled: 3,
  later: 4,
  refused: 5,
};

/** 0 for a report that does not end the attempt. */
export function finalAnswer(kind: string): number {
  return FINAL[kind] ?? 0;
}

/** Whether the log has an event for this kind of report. */
export function isLogged(kind: string): boolean {
  return kind === 'started' || finalAnswer(kind) !== 0;
}
