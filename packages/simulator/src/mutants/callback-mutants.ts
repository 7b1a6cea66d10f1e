import type { Mutant } from './mutant.ts';

/** Bugs in the delivery of callbacks. */
export const CALLBACK_MUTANTS: readonly Mutant[] = [
  {
    name: 'callbacks-forgotten-by-a-restart',
    file: 'server/src/callbacks/courier.ts',
    find: 'Array.from(state.outbox.pending(), ',
    replace: 'Array.from([], ',
    what: 'What is owed is taken up after a start (I35): here it is left in the log.',
  },
  {
    name: 'callbacks-of-a-task-out-of-order',
    file: 'server/src/callbacks/delivery-lanes.ts',
    find: 'chain.all.unshift(',
    replace: 'chain.all.push(',
    what: 'The next change of a task waits for the one before (I35): here it overtakes a failure.',
  },
  {
    name: 'callback-tried-too-early',
    file: 'server/src/callbacks/due-heap.ts',
    find: 'if (this.nextAt > now) return undefined;',
    replace: 'if (this.heap.length === 0) return undefined;',
    what: 'Nothing is tried before its time (I35): here at once.',
  },
  {
    name: 'no-callback-for-an-end',
    file: 'core/src/apply/task-places.ts',
    find: 'oweCallback(state, slot, end.at);',
    replace: '',
    what: 'A change and what is owed for it are one fact (I35): here an end owes nothing.',
  },
];
