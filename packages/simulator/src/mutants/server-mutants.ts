import type { Mutant } from './mutant.ts';

/** Bugs in the gateway: streams, clocks, and how requests become commands. */
export const SERVER_MUTANTS: readonly Mutant[] = [
  {
    name: 'sleep-not-noticed',
    file: 'server/src/gateway/gateway.ts',
    find: "this.execute(this.standstill.beat() ? 'renew_sessions' : 'expire_sessions');",
    replace: "this.execute('expire_sessions');",
    what: 'Workers that a stopped server did not hear are not lost (L7): here they are.',
  },
  {
    name: 'set-clock-counts-as-silence',
    file: 'server/src/clock/standstill.ts',
    find: 'Math.max(now[0] - this.last[0], now[1] - this.last[1])',
    replace: '(now[0] - this.last[0])',
    what: 'A clock that is set does not make workers silent (I27): here all of them are lost.',
  },
  {
    name: 'timers-before-what-workers-said',
    file: 'server/src/gateway/gateway.ts',
    find: "if (this.standstill.hasBeen()) this.execute('renew_sessions');",
    replace: '',
    what: 'A stopped server listens before it calls workers silent (I20): here timers go first.',
  },
  {
    name: 'old-submits-after-a-standstill',
    file: 'server/src/gateway/gateway.ts',
    find: 'if (this.standstill.isWaking) throw stoodStill();',
    replace: '',
    what: 'What waited for long is not taken (submit.stored-once): here it is stored again.',
  },
  {
    name: 'streams-lose-their-session',
    file: 'server/src/workers/worker-streams.ts',
    find: 'if (this.bySession.get(session) !== stream) return;',
    replace: 'if (stream.lastWriteAt < 0) return;',
    what: 'What a session is given goes to its newest stream: here nowhere once an old one ends.',
  },
  {
    name: 'dedupe-across-types',
    file: 'server/src/dedupe/dedupe-hashes.ts',
    find: 'request.type',
    replace: "''",
    what: 'A dedupe key belongs to a type: here to all of them.',
  },
  {
    name: 'clock-jump-believed',
    file: 'server/src/clock/steady-clock.ts',
    find: 'const isConfirmed = !isFarAhead || monotonic - this.aheadSince >= CONFIRMATION_MS;',
    replace: 'const isConfirmed = !isFarAhead || monotonic >= this.aheadSince;',
    what: 'One wrong reading of the clock fires no timers (L8): here each is believed.',
  },
  {
    name: 'pushed-to-the-wrong-worker',
    file: 'server/src/gateway/server-outputs.ts',
    find: 'const stream = this.streams.find(pushSessions[i]);',
    replace: 'const stream = this.streams.find(pushSessions[i - (i % 3 === 2 ? 1 : 0)]);',
    what: 'A task goes to the worker that has its lease (L6): here every third to another one.',
  },
];
