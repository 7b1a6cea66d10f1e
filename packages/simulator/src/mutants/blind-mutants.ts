import type { Mutant } from './mutant.ts';

/**
 * Bugs that were planted by an author who had read production code and the contract, but nothing of
 * the simulator. They are typical mistakes of a refactoring. They show how well the checkers find
 * bugs for which they were not designed. So a bug that is not found must not be replaced by one
 * that is: the checkers must learn to find it.
 */
export const BLIND_MUTANTS: readonly Mutant[] = [
  {
    name: 'answer-of-an-earlier-lease',
    file: 'core/src/apply/apply-attempts.ts',
    find: '  tasks.answered[slot] = NO_ANSWER;\n',
    replace: '',
    what:
      'A worker whose lease was taken back hears stale_lease: here the report that ended an ' +
      'earlier attempt of the task makes a report of the same kind a duplicate, as if it counted.',
  },
  {
    name: 'expired-key-still-found',
    file: 'core/src/commands/tasks/duplicates.ts',
    find: '  if (entry === NO_SLOT || dedupe.expiresAt[entry] > decision.now) return entry;',
    replace: '  if (entry === NO_SLOT || dedupe.expiresAt[entry] > 0) return entry;',
    what:
      'A dedupe key counts for its window and no longer: here one whose timer was not heard yet ' +
      'is found after it, so that the new task is taken for the old one and never runs.',
  },
  {
    name: 'unread-bytes-of-a-broken-stream',
    file: 'core/src/commands/sessions/attach-session.ts',
    find: '  session.unsentBytes = 0;\n',
    replace: '',
    what:
      'A worker with room gets the tasks that it could run: here what was on its way when its ' +
      'stream broke counts as unread after the resume, until it is given nothing any more.',
  },
  {
    name: 'retry-after-beyond-the-last-attempt',
    file: 'core/src/commands/attempts/report-attempts.ts',
    find: `\
  if (report.retryable === false || !hasAttemptsLeft(decision.state, slot)) return 0;
  if (report.retryAfterMs !== undefined) return decision.now + report.retryAfterMs;
`,
    replace: `\
  if (report.retryable === false) return 0;
  if (report.retryAfterMs !== undefined) return decision.now + report.retryAfterMs;
  if (!hasAttemptsLeft(decision.state, slot)) return 0;
`,
    what:
      'A task has as many attempts as its policy says: here a failure that asks for a time has ' +
      'another one after the last.',
  },
  {
    name: 'rank-of-a-head-that-left',
    file: 'core/src/state/ready-queue.ts',
    find: `\
    if (lane.length === 0) this.closed(lane);
    else this.rank(lane);`,
    replace: `\
    if (lane.length === 0) this.closed(lane);
    else if (lane.head === slot) this.rank(lane);`,
    what:
      'In a level the oldest task goes first, whatever its type and shape: here the tasks behind ' +
      'one that left are taken for as old as that one, and overtake those of other lanes.',
  },
  {
    name: 'alarm-that-rang-counts-as-set',
    file: 'engine/src/alarm.ts',
    find: '      this.at = Number.POSITIVE_INFINITY;\n',
    replace: '',
    what:
      'A delayed task runs soon after its time: here an alarm that rang before anything was due, ' +
      'or left something due, is not set again for the same time.',
  },
  {
    name: 'view-made-when-it-leaves',
    file: 'engine/src/engine.ts',
    find: 'return this.whenDurable(() => view(this.partition.state, this.partition));',
    replace: `\
return this.whenDurable(() => undefined).then(() => view(this.partition.state, this.partition));`,
    what:
      'Whoever reads a task sees nothing that a crash can undo: here the view is made once the ' +
      'wait is over, and shows what was decided meanwhile and is not durable.',
  },
  {
    name: 'positions-sorted-as-text',
    file: 'log/src/snapshots/file-snapshots.ts',
    find: 'return positions.sort((a, b) => b - a);',
    replace: 'return positions.sort().reverse();',
    what:
      'The two newest snapshots are kept and the log from the older on: here record 999 is taken ' +
      'for later than 1000, the wrong snapshot is removed and the log is trimmed by the wrong one.',
  },
  {
    name: 'spares-numbered-from-the-start',
    file: 'log/src/segments/segment-supply.ts',
    find: '      this.#lastNumber = Math.max(this.#lastNumber, Number(number));\n',
    replace: '',
    what:
      'A log on a healthy disk goes on: here the number of the latest spare is not known after a ' +
      'restart, a new spare takes the name of an old one, and the log fails when it wants both.',
  },
  {
    name: 'time-of-a-tick-not-noted',
    file: 'server/src/clock/standstill.ts',
    find: '    this.last = this.now();\n    return hasBeen;\n',
    replace: '    return hasBeen;\n',
    what:
      'What a worker held that is gone for good runs elsewhere after leaseMs: here every third ' +
      'tick believes that the process overslept and takes all sessions for heard, so none is lost.',
  },
  {
    name: 'heartbeats-end-at-the-first-rest',
    file: 'sdk/src/worker/report-sender.ts',
    find: `\
      this.heartbeatTimer = undefined;
      if (this.session === '' || !holdsLeases()) return;
`,
    replace: `\
      if (this.session === '' || !holdsLeases()) return;
      this.heartbeatTimer = undefined;
`,
    what:
      'A worker that lives keeps its leases however long a handler takes: here one that held ' +
      'nothing for a moment never sends a heartbeat again, and what it runs later is run twice.',
  },
  {
    name: 'refused-though-it-may-be-stored',
    file: 'sdk/src/client/submitter.ts',
    find: 'call.mayBeStored ||= refusal === undefined || !isUntouched(refusal);',
    replace: 'call.mayBeStored = refusal === undefined || !isUntouched(refusal);',
    what:
      'A call that hears refused has stored nothing: here one that was sent without an answer ' +
      'first and turned away later hears it too, and its tasks may run all the same.',
  },
];
