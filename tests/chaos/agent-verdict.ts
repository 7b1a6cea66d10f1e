/**
 * Judges what programs noted while agents, engines and servers were killed: lines such as `beat
 * TASK PROGRAM` and `end TASK PROGRAM`. `states` has the end of every task that was acknowledged.
 */
export function judgeLedger(ledger: string, states: ReadonlyMap<string, string>): string[] {
  const programs = new Map<string, string[]>();
  const ended = new Set<string>();
  const problems = new Set<string>();
  for (const line of ledger.split('\n').filter(Boolean)) {
    const [word, task = '', program = ''] = line.split(' ');
    if (!states.has(task)) problems.add(`${task} was never acknowledged`);
    if (word === 'end') ended.add(task);
    const seen = programs.get(task) ?? [];
    programs.set(task, seen);
    if (seen.at(-1) === program) continue;
    // It goes on although another program of the task has begun.
    if (seen.includes(program)) problems.add(`${task} ran twice at the same time`);
    seen.push(program);
  }
  for (const [task, state] of states) {
    if (state !== 'succeeded') problems.add(`${task} is ${state}`);
    else if (!ended.has(task)) problems.add(`${task} succeeded, but no program of it ended`);
  }
  return [...problems];
}
