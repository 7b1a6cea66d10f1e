import type { Mutant } from './mutant.ts';

const WHEEL = 'core/src/structures/timing-wheel.ts';
const DUPLICATES = 'core/src/commands/tasks/duplicates.ts';
const ARENA = 'core/src/structures/arena.ts';

/** Bugs in the state machine: time, dedupe keys, ends of tasks, payloads, snapshots. */
export const CORE_MUTANTS: readonly Mutant[] = [
  {
    name: 'wheel-off-by-one',
    file: WHEEL,
    find: 'if (startsAt > now) return NO_SLOT;',
    replace: 'if (startsAt > now + 1) return NO_SLOT;',
    what: 'Timers never fire early (timers.never-early): here by a millisecond.',
  },
  {
    name: 'wheel-bit-not-cleared',
    file: WHEEL,
    find: 'if (this.buckets[bucket].length === 0) this.mark(bucket, false);',
    replace: '',
    what: 'Every timer fires (L8): here an empty bucket hides those behind it.',
  },
  {
    name: 'wheel-places-by-the-low-half',
    file: WHEEL,
    find: 'if (highBits !== 0) return 4 + topDigit(highBits);',
    replace: '',
    what: 'A timer moves down as its time comes (timers.never-early): here a far one is too low.',
  },
  {
    name: 'queue-time-from-the-submit',
    file: 'core/src/state/deadlines.ts',
    find: 'return tasks.dueAt[slot] + queueMs;',
    replace: 'return tasks.submittedAt[slot] + queueMs;',
    what: 'queueMs counts from when the task joined its queue: here from the submit.',
  },
  {
    name: 'run-time-not-limited-after-later',
    file: 'core/src/state/deadlines.ts',
    find: `    case DEFERRED:
      return tasks.leasedAt[slot] + runMs;`,
    replace: `    case DEFERRED:
      return Number.POSITIVE_INFINITY;`,
    what: 'runMs limits an attempt whose end comes from outside, too: here it may take for ever.',
  },
  {
    name: 'backoff-too-short',
    file: 'core/src/task/retry-policy.ts',
    find: 'return Math.floor(delayMs + jitterMs);',
    replace: 'return Math.floor(delayMs - jitterMs);',
    what: 'Jitter adds to a delay and never subtracts: here it does.',
  },
  {
    name: 'dedupe-by-key-only',
    file: DUPLICATES,
    find: 'if (!isSame && !replaces && policy !== EXISTING_DUPLICATE) return false;',
    replace: '',
    what: 'The same key with another input is refused: here it is taken for the same task.',
  },
  {
    name: 'dedupe-replaces-held-task',
    file: DUPLICATES,
    find: 'const replaces = policy === REPLACE_DUPLICATE && isIdle(state, entry);',
    replace: 'const replaces = policy === REPLACE_DUPLICATE;',
    what: 'Only a task that nobody holds is replaced: here also one that a worker holds.',
  },
  {
    name: 'dedupe-replace-keeps-key',
    file: 'core/src/commands/tasks/replace-task.ts',
    find: '  setInputOfKey(decision, (tasks.dedupe[slot] - 1) as Slot, claim);\n',
    replace: '',
    what: 'After a replacement the key stands for the new input: here still for the old one.',
  },
  {
    name: 'retry-with-input-keeps-key',
    file: 'core/src/commands/tasks/change-input.ts',
    find: '  changeInputOfKey(decision, slot, input);\n',
    replace: '',
    what: 'A retry with another input gives its key that input: here the key keeps the old one.',
  },
  {
    name: 'dedupe-window-extended',
    file: DUPLICATES,
    find: '    this.entries.set(place, entry);',
    replace: `    (state.dedupe.expiresAt as unknown as Float64Array)[entry] += claim.windowMs;
    this.entries.set(place, entry);`,
    what: 'A dedupe window begins with the first submit and is not extended: here each one does.',
  },
  {
    name: 'dedupe-window-too-short',
    file: 'core/src/state/dedupe-table.ts',
    find: 'this.expiresAt[entry] = submittedAt + claim.windowMs;',
    replace: 'this.expiresAt[entry] = submittedAt + Math.floor(claim.windowMs / 2);',
    what: 'A dedupe key is remembered for its window: here for half of it.',
  },
  {
    name: 'dedupe-key-ends-with-its-task',
    file: 'core/src/commands/tasks/submit-tasks.ts',
    find: 'if (entry !== undefined) slots.push(slotOfEntry(decision.state, entry));',
    replace: `if (entry !== undefined && slotOfEntry(decision.state, entry) !== NO_SLOT) {
      slots.push(slotOfEntry(decision.state, entry));
    }`,
    what: 'A dedupe key outlives its task: here the task is made again once it has left memory.',
  },
  {
    name: 'request-is-not-remembered',
    file: 'core/src/commands/tasks/submit-tasks.ts',
    find: '  rememberRequest(decision, command, slots[0]);\n',
    replace: '',
    what: 'A request with a key that comes again gives its tasks: here it makes others.',
  },
  {
    name: 'request-gives-its-first-task',
    file: 'core/src/commands/tasks/request-keys.ts',
    find: 'tasks.map((_, place) => taskOf(decision, entry, place))',
    replace: 'tasks.map(() => taskOf(decision, entry, 0))',
    what: 'A repeated request gives all of its tasks (request.whole): here the first each time.',
  },
  {
    name: 'request-with-another-body',
    file: 'core/src/commands/tasks/request-keys.ts',
    find: 'if (!state.dedupe.hasSameInput(entry, request)) {',
    replace: 'if (!state.dedupe.hasSameInput(entry, request) && tasks.length === 0) {',
    what: 'A key of a request with another body is refused: here it gives the tasks of the first.',
  },
  {
    name: 'end-a-finished-task',
    file: 'core/src/commands/tasks/end-task.ts',
    find: "if (isTerminal(tasks.state[slot])) return { rejection: 'task_finished', slot };",
    replace: '',
    what: 'Terminal states absorb (L6): here somebody outside ends a task a second time.',
  },
  {
    name: 'retry-a-success',
    file: 'core/src/commands/tasks/retry-tasks.ts',
    find: "if (taskState === SUCCEEDED) return 'task_finished';",
    replace: '',
    what: 'A task that succeeded never runs again: here a retry runs it.',
  },
  {
    name: 'cancel-across-namespaces',
    file: 'core/src/commands/tasks/cancel-tasks.ts',
    find: 'const slot = findTask(decision.state, command.namespace, id);',
    replace: "const slot = findTask(decision.state, 'default', id);",
    what: "Another namespace's tasks do not exist: here they can be cancelled.",
  },
  {
    name: 'redrive-has-no-end',
    file: 'core/src/commands/dead-letters/redrive-tasks.ts',
    find: 'if (slot === NO_SLOT || state.tasks.endedAt[slot] > redrive.startedAt) {',
    replace: 'if (slot === NO_SLOT) {',
    what: 'A redrive runs what was dead when it began: here what fails again, too.',
  },
  {
    name: 'redrive-ignores-its-rate',
    file: 'core/src/state/redrives.ts',
    find: 'Math.max(redrive.nextAt, at - CATCH_UP_MS) + 1000 / redrive.ratePerSec;',
    replace: 'at;',
    what: 'A redrive keeps to its rate: here everything runs at once.',
  },
  {
    name: 'redrive-lost-on-restart',
    file: 'core/src/state/redrives.ts',
    find: 'this.running.set(number, { ...scope,',
    replace: 'if (nextAt === startedAt) this.running.set(number, { ...scope,',
    what: 'A redrive survives a restart: here one that had begun is gone.',
  },
  {
    name: 'compaction-moves-a-payload-wrongly',
    file: ARENA,
    find: 'this.put(source, start);\n        this.leave(chunk, roomOf(length));',
    replace: 'this.put(source, start + 1);\n        this.leave(chunk, roomOf(length));',
    what: 'Compaction keeps every payload (arena.no-kept-reference): here it moves wrong bytes.',
  },
  {
    name: 'payload-released-too-much',
    file: ARENA,
    find: 'this.leave(Math.floor(reference / ARENA_CHUNK_BYTES), roomOf(length));',
    replace: 'this.leave(Math.floor(reference / ARENA_CHUNK_BYTES), roomOf(length) * 2);',
    what: 'A chunk with a live payload is not used again (arena.live-bytes): here it is.',
  },
  {
    name: 'forgotten-task-keeps-its-payloads',
    file: 'core/src/apply/apply-tasks.ts',
    find: '  state.payloads.releaseAll(slot, TASK_PAYLOADS);\n',
    replace: '',
    what: 'Memory is bounded (L9): here payloads of forgotten tasks stay.',
  },
  {
    name: 'finished-tasks-stay',
    file: 'core/src/commands/forget-finished.ts',
    find: 'kept <= finishedTasksMax && !isTooMuch',
    replace: '!isTooMuch',
    what: 'Finished tasks are kept within a bound (L9): here all of them stay.',
  },
  {
    name: 'revoked-key-without-a-record',
    file: 'core/src/commands/access/revoke-access-key.ts',
    find: "audit(decision, command.by, { namespace: key.namespace, action: 'key_revoked' });",
    replace: '',
    what: 'Whoever ends a key is named in the log (I42): here nobody is.',
  },
  {
    name: 'keys-of-other-namespaces',
    file: 'core/src/commands/access/find-access-key.ts',
    find: 'return key !== undefined && isOver(namespace, key.namespace) ? key : undefined;',
    replace: 'return key;',
    what: 'An admin has the keys of the own namespace (I39): here those of all.',
  },
  {
    name: 'audit-records-not-saved',
    file: 'core/src/state/access/audit-trail.ts',
    find: 'const oldestFirst = [...this.before(this.next)].reverse();',
    replace: 'const oldestFirst = [...this.before(this.next - 1)].reverse();',
    what: 'A snapshot has every audit record that memory has (I42): here all but the newest.',
  },
];
