import type { Mark } from './marks.ts';

/** One part of a task's way, from one mark to the next. */
export interface Phase {
  readonly from: string;
  readonly lane: 'client' | 'network' | 'server' | 'disk' | 'worker';
  readonly what: string;
}

/** The way of a lone task, in order. A phase ends where the next one begins. */
export const PHASES: readonly Phase[] = [
  { from: 'client.call', lane: 'client', what: 'the call, as a request' },
  { from: 'client.send', lane: 'network', what: 'socket, and the server wakes up' },
  { from: 'server.request', lane: 'server', what: 'guard, access, body' },
  { from: 'server.body', lane: 'server', what: 'checks, dedupe hash' },
  { from: 'server.decide', lane: 'server', what: 'decide, apply, lease' },
  { from: 'server.decided', lane: 'server', what: 'render, end of turn, frame' },
  { from: 'server.write', lane: 'disk', what: 'commit through the thread pool' },
  { from: 'server.written', lane: 'server', what: 'release' },
  { from: 'server.push', lane: 'network', what: 'socket, and the worker wakes up' },
  { from: 'worker.bytes', lane: 'worker', what: 'parse the push' },
  { from: 'worker.handler', lane: 'worker', what: 'handler, and its report' },
  { from: 'worker.report', lane: 'network', what: 'socket, and the server wakes up' },
  { from: 'server.request', lane: 'server', what: 'guard, access, body' },
  { from: 'server.body', lane: 'server', what: 'checks' },
  { from: 'server.decide', lane: 'server', what: 'decide, apply' },
  { from: 'server.decided', lane: 'server', what: 'render, end of turn, frame' },
  { from: 'server.write', lane: 'disk', what: 'commit through the thread pool' },
  { from: 'server.written', lane: 'server', what: 'release' },
  { from: 'server.answer', lane: 'network', what: 'socket, and the worker wakes up' },
];

/** Number of phases before the handler. */
export const HANDLER = PHASES.findIndex(({ from }) => from === 'worker.handler');

const END = 'worker.bytes';

/** The answer to the submit leaves beside the push, and is on nobody's way. */
const BESIDE = new Set(['client.answer']);

/**
 * Microseconds of each phase, one list per task. A task that something came between, or that met
 * another one, is left out.
 */
export function phaseTimes(marks: readonly Mark[]): number[][] {
  const sorted = [...marks].sort(([, a], [, b]) => a - b);
  const starts = sorted.flatMap(([name], at) => (name === 'client.call' ? [at] : []));
  return starts.flatMap((start, n) => {
    const times = timesOf(sorted.slice(start, starts[n + 1]));
    return times === undefined ? [] : [times];
  });
}

function timesOf(marks: readonly Mark[]): number[] | undefined {
  const wanted = [...PHASES.map(({ from }) => from), END];
  const found: number[] = [];
  for (const [name, us] of marks) {
    if (name === wanted[found.length]) found.push(us);
    else if (!BESIDE.has(name) && !isSubmitAnswer(name, found.length)) return undefined;
    if (found.length === wanted.length) break;
  }
  if (found.length < wanted.length) return undefined;
  return PHASES.map((_, at) => found[at + 1] - found[at]);
}

/** Between the push and the report. */
function isSubmitAnswer(name: string, phase: number): boolean {
  return name === 'server.answer' && phase >= 8 && phase <= 12;
}
