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
    what: 'A resume lists every unanswered lease (leases.held-until-end): here only what runs.',
  },
  {
    name: 'final-report-dropped-without-an-answer',
    file: SENDER,
    find: '    this.outbox.unanswered(reports);\n    if (sent.use',
    replace: '    this.outbox.answered(reports);\n    if (sent.use',
    what: 'A final report is sent until it is answered (reports.final-kept): here once.',
  },
  {
    name: 'lease-run-twice',
    file: HELD,
    find: '      this.waiting.delete(held);\n      this.run(held);',
    replace: '      this.run(held);',
    what: 'A lease starts one handler at the most (leases.one-handler): here a second one.',
  },
  {
    name: 'lost-lease-runs-on',
    file: SESSION,
    find: 'for (const lease of lost) this.held.lose(lease);',
    replace: '',
    what: 'A handler whose lease is lost is aborted (session.server-decides): here it runs on.',
  },
  {
    name: 'worker-forgets-its-heartbeat',
    file: SENDER,
    find: '        this.owesHeartbeat = true;\n',
    replace: '',
    what: 'Requests leave often enough for leases (heartbeat.never-silent): here only with news.',
  },
  {
    name: 'key-of-the-sdk-forgotten-too-soon',
    file: 'sdk/src/client/submitter.ts',
    find: 'neededMs = Math.ceil(giveUpAfterMs + answerWithinMs + STRAY_MS);',
    replace: 'neededMs = Math.ceil(answerWithinMs);',
    what: 'A key is remembered while it may be sent (submit.stored-once): here not for a resend.',
  },
  {
    name: 'fresh-key-for-every-send',
    file: 'sdk/src/client/submitter.ts',
    find: "texts).join(',')",
    replace: "texts).map((text) => text.replace('sdk.', 'sdk.' + this.newKey())).join(',')",
    what: 'A resend is the same bytes (submit.stored-once): here another key makes a new task.',
  },
  {
    name: 'request-of-the-sdk-is-regrouped',
    file: 'sdk/src/client/submitter.ts',
    find: 'if (calls[0].isPlain) this.calls.seal(batch);\n      else ',
    replace: '',
    what: 'A resend with one key for all is the same request (submit.sealed-batch): here another.',
  },
  {
    name: 'request-of-the-sdk-gets-another-key',
    file: 'sdk/src/client/submitter.ts',
    find: '    const batch = this.calls.takeSealed() ?? this.nextBatch();',
    replace: `    const sealed = this.calls.takeSealed();
    const batch = sealed === undefined ? this.nextBatch() : { ...sealed, key: this.newKey() };`,
    what: 'A resend has the key of its request (submit.stored-once): here a fresh one each time.',
  },
  {
    name: 'worker-leaves-its-handlers',
    file: SESSION,
    find: "    if (this.stage === 'stopping' && this.held.active > 0) return;\n",
    replace: '',
    what: 'A stopping worker lets its handlers end (session.answered-stop): here it just leaves.',
  },
];
