import type { Mutant } from './mutant.ts';

/** Bugs in the projection: rows that differ from the log. */
export const PROJECTION_MUTANTS: readonly Mutant[] = [
  {
    name: 'row-takes-events-twice',
    file: 'server/src/projection/projector.ts',
    find: 'if (stored.position > this.batchStart) return undefined;',
    replace: '',
    what: 'What is read again after a crash is not applied again (I36): here it is.',
  },
  {
    name: 'mark-past-what-is-unwritten',
    file: 'server/src/projection/projector.ts',
    find: 'position: this.unsaved.since ?? this.taken.position',
    replace: 'position: this.taken.position',
    what: 'The mark stands before what is in memory alone (I33): here a crash loses that.',
  },
  {
    name: 'ended-tasks-wait-to-be-written',
    file: 'server/src/projection/unsaved/unsaved-task.ts',
    find: 'return isTerminal(this.told.state);',
    replace: 'return false;',
    what: 'What has ended is written at once, as memory forgets it (I33): here it waits.',
  },
  {
    name: 'usual-task-forgets-its-delay',
    file: 'server/src/projection/records/usual-task.ts',
    find: 'this.queuedAt = at;',
    replace: '',
    what: 'A row has all that happened to its task (I36): here not that its delay ended.',
  },
  {
    name: 'record-that-does-not-grow',
    file: 'server/src/projection/unsaved/unsaved-task.ts',
    find: 'this.told = record;',
    replace: 'if (this.told instanceof UsualTask) return isRun(record) ? undefined : record;',
    what: 'The row of a task has all that happened to it (I36): here what came first is all.',
  },
  {
    name: 'mark-past-fresh-tasks',
    file: 'server/src/projection/unsaved/unsaved-tasks.ts',
    find: 'let since = this.fresh.oldest ?? Number.POSITIVE_INFINITY;',
    replace: 'let since = Number.POSITIVE_INFINITY;',
    what: 'Tasks without a change hold the mark, too (I33): here a crash loses them.',
  },
  {
    name: 'fresh-task-is-there-twice',
    file: 'server/src/projection/unsaved/fresh-tasks.ts',
    find: 'const task = slab.taskAt(place);\n    slab.forget(place);',
    replace: 'const task = slab.taskAt(place);',
    what: 'A task is written once at a time (I36): here as it was at its submit, after its end.',
  },
];
