import type { Mutant } from './mutant.ts';

const RECOVERY = 'agent/src/logic/recovery.ts';
const LIVE = 'agent/src/logic/live-attempts.ts';
const OFFER = 'agent/src/logic/offer.ts';

/** Bugs in the decisions of agents, looked for in worlds that all have agents. */
const MUTANTS: readonly Mutant[] = [
  {
    name: 'adopted-program-starts-again',
    file: LIVE,
    find: '    const adopted = this.left.get(lease);',
    replace: '    const adopted = this.left.get(lease.slice(1));',
    what: 'An adopted program goes on under its lease: here a second one is started beside it.',
  },
  {
    name: 'cleaned-before-the-answer',
    file: LIVE,
    find: '    if (hasReport(context)) {',
    replace: '    if (!hasReport(context)) {',
    what: 'Traces stay until the end is answered: here the next agent finds none.',
  },
  {
    name: 'program-that-never-started-is-reported',
    file: RECOVERY,
    find: "record !== undefined && started !== 'no' &&",
    replace: 'record !== undefined &&',
    what: 'What was not started is free (recovery.not-started-is-free): here an attempt is spent.',
  },
  {
    name: 'ended-program-is-forgotten',
    file: RECOVERY,
    find: "if (record.task.type !== 'container') return isMarked ? 'yes' : 'no';",
    replace: "if (record.task.type !== 'container') return 'no';",
    what: 'What was started counts (recovery.started-counts): here it is tried again for free.',
  },
  {
    name: 'left-without-a-session-stays',
    file: RECOVERY,
    find: '      hasSession && record !== undefined',
    replace: '      record !== undefined',
    what: 'What is left is adopted or ended (recovery.no-orphans): here not without a session.',
  },
  {
    name: 'orphans-stay',
    file: RECOVERY,
    find: 'return found.filter((name) => !owned.has(name));',
    replace: 'return found.filter((name) => !owned.has(name) && owned.size > 1);',
    what: 'What nobody owns is removed: here only beside other attempts.',
  },
  {
    name: 'adopted-gpu-is-free',
    file: LIVE,
    find: '      this.gpus.hold(record.gpus);\n',
    replace: '',
    what: 'No GPU has two tasks (gpus.no-overbooking): here that of an adopted one is given again.',
  },
  {
    name: 'reserve-is-offered',
    file: OFFER,
    find: 'Math.floor(host.memoryBytes / MIB) - reserve.memoryMb)',
    replace: 'Math.floor(host.memoryBytes / MIB) + Math.min(0, reserve.memoryMb))',
    what: 'An offer leaves the reserve to the host: here all of the memory is offered.',
  },
];

export const AGENT_MUTANTS: readonly Mutant[] = MUTANTS.map((each) => ({
  ...each,
  inAgents: true,
}));
