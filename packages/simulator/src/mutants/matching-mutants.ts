import type { Mutant } from './mutant.ts';

const CHOICE = 'core/src/matching/choice.ts';
const QUEUE = 'core/src/state/ready-queue.ts';
const LINE = 'core/src/decision/waiting-line.ts';
const MATCHING = 'core/src/matching/matching.ts';

/** Bugs in matching: which worker gets which task, in which order, and how many. */
export const MATCHING_MUTANTS: readonly Mutant[] = [
  {
    name: 'priority-inverted',
    file: QUEUE,
    find: 'return (PRIORITY_LEVELS - level) * ORDERS + order;',
    replace: 'return level * ORDERS + order;',
    what: 'The highest level goes first (matching.level-order): here the lowest.',
  },
  {
    name: 'last-in-first-out',
    file: QUEUE,
    find: '    lane.append(slot);\n    this.depth += 1;\n    if (lane.length > 1) return;',
    replace: '    lane.prepend(slot);\n    this.depth += 1;\n    if (lane.length > 1) return;',
    what: 'In a level the oldest goes first (matching.level-order): here the youngest.',
  },
  {
    name: 'level-bit-not-cleared',
    file: QUEUE,
    find: 'if (this.openAt[lane.level] === 0) this.levels &= ~(1 << lane.level);',
    replace: '',
    what: 'The bits of the levels say which are empty (queue.open-lanes): here they stay set.',
  },
  {
    name: 'ageing-off',
    file: CHOICE,
    find: 'return (session.leases + 1) % matching.agedLeaseEvery === 0;',
    replace: 'return (session.leases + 1) % matching.agedLeaseEvery < 0;',
    what: 'Some leases go to the task that waited longest (matching.level-order): here none does.',
  },
  {
    name: 'reservations-off',
    file: 'core/src/matching/reservation.ts',
    find: 'if (session.reservedFor !== NO_SLOT) return false;',
    replace: 'if (session.reservedFor === NO_SLOT) return false;',
    what: 'A task that waited long is not overtaken for ever (matching.level-order): here it is.',
  },
  {
    name: 'over-commit-a-worker',
    file: 'core/src/workers/room.ts',
    find: 'if (this.used[kind] + needs[kind] > this.offered[kind]) return false;',
    replace: 'if (this.used[kind] + needs[kind] > this.offered[kind] + needs[kind]) return false;',
    what: 'Leases of a worker are within its offer (matching.within-offer): here one task more.',
  },
  {
    name: 'use-given-back-twice',
    file: 'core/src/workers/room.ts',
    find: '    this.use(shape, -1);',
    replace: '    this.use(shape, -1);\n    this.use(shape, -1);',
    what: 'What is used is the sum of what the leases need (room.sum-of-needs): here less.',
  },
  {
    name: 'constraints-ignored',
    file: 'core/src/workers/room.ts',
    find: '    return this.suits(shape);',
    replace: '    return true;',
    what: 'A task runs where its constraints hold: here anywhere.',
  },
  {
    name: 'concurrency-of-a-type-ignored',
    file: LINE,
    find: 'if (session.typeUse[place] >= session.typeLimits[place]) return undefined;',
    replace: '',
    what: 'A worker runs no more of a type at once than it said: here it is filled with them.',
  },
  {
    name: 'paused-queue-gives-out',
    file: LINE,
    find: 'return queue?.paused === true ? undefined : queue;',
    replace: 'return queue;',
    what: 'A paused queue gives out nothing: here it does when a worker has room.',
  },
  {
    name: 'drained-worker-gets-work',
    file: MATCHING,
    find: 'const isThere = session.connected && !session.draining;',
    replace: 'const isThere = session.connected;',
    what: 'A drained worker gets nothing new: here it does.',
  },
  {
    name: 'room-that-appears-is-not-filled',
    file: 'core/src/decision/pending-matches.ts',
    find: `      roster.giveBack(session, key, shape);
      this.add(session);`,
    replace: '      roster.giveBack(session, key, shape);',
    what: 'No ready task waits beside a worker with room (matching.no-idle-fit): here for a while.',
  },
  {
    name: 'resumed-queue-stays-still',
    file: 'core/src/decision/pending-matches.ts',
    find: 'for (const lane of queue.open) this.lanes.push(lane);',
    replace: '',
    what: 'A resumed queue gives out what waits (matching.no-idle-fit): here only later tasks.',
  },
];
