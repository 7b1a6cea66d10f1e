import type { Mutant } from './mutant.ts';

const REPORTS = 'core/src/commands/attempts/report-attempts.ts';
const ENDS = 'core/src/decision/lease-ends.ts';
const APPLY = 'core/src/apply/apply-attempts.ts';

/**
 * Bugs in leases: which worker may run a task, which reports count, and what follows a lost lease.
 */
export const LEASE_MUTANTS: readonly Mutant[] = [
  {
    name: 'stale-lease-accepted',
    file: REPORTS,
    find: "if (!tasks.hasLease(key.slot, key.number)) return 'stale_lease';",
    replace: '',
    what: 'A report counts only with the current lease (L6): here with any that the task ever had.',
  },
  {
    name: 'any-session-may-report',
    file: REPORTS,
    find: "if (holder === NO_HOLDER || tasks.holderOf(key.slot) !== holder) return 'stale_lease';",
    replace: "if (holder === NO_HOLDER) return 'stale_lease';",
    what: 'A lease belongs to one session (L6): here any session may report on it.',
  },
  {
    name: 'resurrect-after-revoke',
    file: REPORTS,
    find: 'if (!isHeld(tasks.state[key.slot])) {',
    replace: 'if (tasks.state[key.slot] > RUNNING) {',
    what: 'A lease that was taken back ends nothing (L6): here it does, while the task waits.',
  },
  {
    name: 'success-after-the-end',
    file: REPORTS,
    find: 'if (!isHeld(tasks.state[key.slot])) {',
    replace: "if (!isHeld(tasks.state[key.slot]) && report.kind !== 'succeeded') {",
    what: 'The same report again has no further effect (L6): here a success counts each time.',
  },
  {
    name: 'cancel-then-accept-success',
    file: REPORTS,
    find: 'if (stop === CANCELLED_REASON) {',
    replace: "if (stop === CANCELLED_REASON && report.kind !== 'succeeded') {",
    what: 'From an acknowledged cancel on the end is cancelled: here a success still counts.',
  },
  {
    name: 'started-twice',
    file: REPORTS,
    find: "if (tasks.state[slot] === RUNNING) return 'duplicate';",
    replace: '',
    what: 'The same report again is a duplicate (L6): here a second start is a start.',
  },
  {
    name: 'heartbeats-do-not-count',
    file: REPORTS,
    find: `  const { tasks } = decision.state;
  listenFor(decision, slot, decision.now);`,
    replace: '  const { tasks } = decision.state;',
    what: 'Silence is counted from the last report of a lease: here from its beginning.',
  },
  {
    name: 'count-a-refused-push',
    file: ENDS,
    find: 'NOT_ARRIVED_REASON, REFUSED_REASON, HANDED_BACK_REASON];',
    replace: 'NOT_ARRIVED_REASON, HANDED_BACK_REASON];',
    what: 'A push that a worker refuses costs no attempt: here it does.',
  },
  {
    name: 'count-a-lease-that-never-arrived',
    file: ENDS,
    find: 'NOT_ARRIVED_REASON, REFUSED_REASON, HANDED_BACK_REASON];',
    replace: 'REFUSED_REASON, HANDED_BACK_REASON];',
    what: 'A lease that never arrived costs no attempt (L7): here it does.',
  },
  {
    name: 'count-a-task-that-is-handed-back',
    file: ENDS,
    find: 'NOT_ARRIVED_REASON, REFUSED_REASON, HANDED_BACK_REASON];',
    replace: 'NOT_ARRIVED_REASON, REFUSED_REASON];',
    what: 'A worker that leaves spends no attempt of what it hands back: here it does.',
  },
  {
    name: 'retry-past-the-maximum',
    file: ENDS,
    find: 'return tasks.attempt[slot] < texts.retry.at(tasks.retry[slot]).maxAttempts;',
    replace: 'return tasks.attempt[slot] <= texts.retry.at(tasks.retry[slot]).maxAttempts;',
    what: 'A task has no more attempts than its policy allows: here one more.',
  },
  {
    name: 'cancelled-task-returns-to-its-queue',
    file: ENDS,
    find: 'if (state.tasks.stop[slot] === CANCELLED_REASON) {',
    replace: 'if (state.tasks.stop[slot] === CANCELLED_REASON && reason === REFUSED_REASON) {',
    what: 'From an acknowledged cancel on nobody is given the task: here when its worker is lost.',
  },
  {
    name: 'forget-a-lease-that-never-arrived',
    file: 'core/src/commands/sessions/attach-session.ts',
    find: 'returnUnlisted(decision, session, new Set(running));',
    replace: '',
    what: 'A lease that never arrived goes back at once (L7): here its session keeps it.',
  },
  {
    name: 'keep-a-lost-lease',
    file: 'core/src/commands/sessions/attach-session.ts',
    find: 'const lost = running.filter((lease) => !holds(decision, session, lease));',
    replace: 'const lost: string[] = [];',
    what: 'A worker that comes back hears which leases it lost (L7): here it hears of none.',
  },
  {
    name: 'lost-worker-keeps-its-tasks',
    file: 'core/src/commands/sessions/end-sessions.ts',
    find: '  for (const slot of slots) loseLease(decision, slot, reason);',
    replace: `  for (const slot of slots) {
    if (reason === HANDED_BACK_REASON) loseLease(decision, slot, reason);
  }`,
    what: 'What a lost worker held goes back to its queue: here it stays with nobody.',
  },
  {
    name: 'idle-time-counts-as-silence',
    file: 'core/src/commands/sessions/end-sessions.ts',
    find: 'const heardAt = Math.max(session.heardAt, state.holders.at(holder).heldSince);',
    replace: 'const { heardAt } = session;',
    what: 'A session without leases need not speak: here its first lease is lost for that.',
  },
  {
    name: 'early-timer-after-restart',
    file: 'core/src/commands/sessions/expect-holders.ts',
    find: 'listenFor(decision, slot, session.graceUntil);',
    replace: 'listenFor(decision, slot, 0);',
    what: 'Timers never fire early (L8): here silence counts for which the server itself was away.',
  },
  {
    name: 'end-of-a-displaced-stream-counts',
    file: 'core/src/commands/sessions/session-stream.ts',
    find: `  if (session === undefined || session.connection !== command.connection) return;
  session.connected = false;`,
    replace: `  if (session === undefined) return;
  session.connected = false;`,
    what: 'A session has the stream that it opened last: here the end of an older one cuts it off.',
  },
  {
    name: 'lease-numbers-repeat',
    file: APPLY,
    find: 'state.nextLease = (event.lease + 1) as typeof state.nextLease;',
    replace:
      'if (event.lease % 2 === 0) state.nextLease = (event.lease + 1) as typeof state.nextLease;',
    what: 'No two leases have the same number (L6): here every second one is given twice.',
  },
  {
    name: 'returned-task-goes-to-the-tail',
    file: APPLY,
    find: 'if (retryAt === 0) enqueue(state, slot, { at, reason, toHead: true });',
    replace: 'if (retryAt === 0) enqueue(state, slot, { at, reason, toHead: false });',
    what: 'A task that its worker did not take goes to the head of its level: here to the tail.',
  },
  {
    name: 'lost-worker-without-backoff',
    file: ENDS,
    find: 'event.retryAt = event.spent ? afterLoss(decision, slot) : 0;',
    replace: 'event.retryAt = 0;',
    what: 'A task whose worker was lost waits before its next attempt: here it runs at once.',
  },
  {
    name: 'repeated-resume-counts',
    file: 'core/src/commands/sessions/attach-session.ts',
    find: 'if (resumed !== undefined && number <= resumed.resumeNumber) {',
    replace: 'if (resumed !== undefined && number < resumed.resumeNumber) {',
    what: 'A resume that arrives again, late, undoes nothing (L6): here it takes leases back.',
  },
];
