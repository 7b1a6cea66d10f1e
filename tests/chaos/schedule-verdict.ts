/** A task that a schedule made, and the time that it stands for. */
export interface Fire {
  readonly schedule: string;
  readonly at: number;
}

interface Expected {
  readonly count: number;
  readonly startAt: number;
  readonly everyMs: number;
  /** Fires that each schedule has at least. */
  readonly roundsMin: number;
}

/** What is wrong with the fires of schedules `s0`, `s1`, … that fire at a fixed rate. */
export function judgeFires(fires: readonly Fire[], expected: Expected): string[] {
  const { count, startAt, everyMs, roundsMin } = expected;
  const bySchedule = new Map<string, number[]>();
  for (const { schedule, at } of fires) {
    bySchedule.set(schedule, [...(bySchedule.get(schedule) ?? []), at]);
  }
  const problems: string[] = [];
  for (let n = 0; n < count; n++) {
    const times = (bySchedule.get(`s${n}`) ?? []).sort((a, b) => a - b);
    const first = startAt + (n % everyMs);
    if (times.length < roundsMin) problems.push(`s${n} fired only ${times.length} times`);
    times.forEach((at, index) => {
      if (at === first + index * everyMs) return;
      const how = at === times[index - 1] ? 'fired twice' : 'missed or invented a time';
      problems.push(`s${n} ${how} near ${new Date(at).toISOString()}`);
    });
    bySchedule.delete(`s${n}`);
  }
  for (const schedule of bySchedule.keys()) problems.push(`${schedule} does not exist`);
  return problems;
}
