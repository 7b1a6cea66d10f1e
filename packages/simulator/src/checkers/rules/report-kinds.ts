/** Reports that end an attempt, with the numbers that stand for them in events. */
const FINAL: Readonly<Record<string, number>> = {
  succeeded: 1,
  failed: 2,
  cancelled: 3,
  later: 4,
  refused: 5,
};

/** 0 for a kind of report that ends nothing. */
export function finalAnswer(kind: string): number {
  return FINAL[kind] ?? 0;
}

/** Reports that leave a trace in the log. */
export function isLogged(kind: string): boolean {
  return kind === 'started' || finalAnswer(kind) !== 0;
}
