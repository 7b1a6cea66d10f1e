import type { Mutant } from './mutant.ts';

const HELD = 'sdk/src/worker/held-leases.ts';
const SENDER = 'sdk/src/worker/report-sender.ts';
const SESSION = 'sdk/src/worker/worker-session.ts';

/** Bugs on the worker's side of a session. */
export const SDK_MUTANTS: readonly Mutant[] = [
  {
    name: 'resume-lists-too-little',
    file: HELD,
    find: 'return [...this.held.keys()];',
    replace: 'return [...this.held.keys()].filter((lease) => this.isRunning(lease));',
    what: 'A resume lists every lease whose report was not answered (G1): here only what runs.',
  },
  {
    name: 'final-report-dropped-without-an-answer',
    file: SENDER,
    find: '    this.outbox.unanswered(reports);\n    this.owesHeartbeat',
    replace: '    this.outbox.answered(reports);\n    this.owesHeartbeat',
    what: 'A final report is sent until it is answered (O2): here once.',
  },
  {
    name: 'lease-run-twice',
    file: HELD,
    find: '      this.waiting.delete(held);\n      this.run(held);',
    replace: '      this.run(held);',
    what: 'A lease starts one handler at the most (G2): here one that waited is started again.',
  },
  {
    name: 'lost-lease-runs-on',
    file: SESSION,
    find: 'for (const lease of lost) this.held.lose(lease);',
    replace: '',
    what: 'A handler whose lease is lost is aborted (U2): here it runs on.',
  },
  {
    name: 'worker-forgets-its-heartbeat',
    file: SENDER,
    find: '        this.owesHeartbeat = true;\n',
    replace: '',
    what: 'A request leaves often enough to keep the leases (H1): here only when there is news.',
  },
  {
    name: 'key-of-the-sdk-forgotten-too-soon',
    file: 'sdk/src/client/submitter.ts',
    find: 'neededMs = Math.ceil(giveUpAfterMs + answerWithinMs + STRAY_MS);',
    replace: 'neededMs = Math.ceil(answerWithinMs);',
    what: 'A key is remembered for longer than anybody sends it (J1): here not for a resend.',
  },
  {
    name: 'fresh-key-for-every-send',
    file: 'sdk/src/client/submitter.ts',
    find: "texts).join(',')",
    replace: "texts).map((text) => text.replace('sdk.', 'sdk.' + this.newKey())).join(',')",
    what: 'A resend is the same bytes (J1): here with another key, so that it is another task.',
  },
  {
    name: 'worker-leaves-its-handlers',
    file: SESSION,
    find: "    if (this.stage === 'stopping' && this.held.active > 0) return;\n",
    replace: '',
    what: 'A worker that stops lets its handlers end for a while (U3): here it leaves at once.',
  },
];
