import type { Specification } from './search.ts';

/** An operation on one task, with its answer. */
export interface TaskOperation {
  readonly kind:
    | 'submit'
    | 'get'
    | 'cancel'
    | 'retry'
    | 'complete'
    | 'fail'
    | 'pause'
    | 'resume'
    | 'patch'
    | 'signal';
  /** Why the operation was refused; undefined when it was done. */
  readonly rejection?: string;
  /** The state in the answer; undefined when the answer names none. */
  readonly state?: string;
  /** Whether the answer says that a cancel was requested; undefined when it does not say. */
  readonly isCancelAsked?: boolean;
  /** Whether the answer may describe a task that has left memory, because its key outlives it. */
  readonly isByKey?: boolean;
  /**
   * Earlier outcomes of the same task in the same call. The call is one atomic step, so every
   * outcome names the state after the last one.
   */
  readonly earlier?: readonly TaskOperation[];
}

/**
 * The phases of a task, as bits. `leasedC` and `runningC` are being cancelled. `deferred` is
 * `running` without a worker. A task that is `gone` ended and left memory.
 */
const PHASES = [
  'absent',
  'waiting',
  'queued',
  'leased',
  'running',
  'leasedC',
  'runningC',
  'deferred',
  'paused',
  'succeeded',
  'failed',
  'timed_out',
  'expired',
  'cancelled',
  'gone',
] as const;

type Phase = (typeof PHASES)[number];

function bits(...phases: readonly Phase[]): number {
  return phases.reduce((mask, phase) => mask | (1 << PHASES.indexOf(phase)), 0);
}

const HELD = bits('leased', 'running', 'leasedC', 'runningC');
const IDLE = bits('waiting', 'queued', 'paused');
const AGAIN = bits('failed', 'timed_out', 'expired', 'cancelled');
const ENDED = AGAIN | bits('succeeded');
const UNKNOWN = bits('absent', 'gone');

/** How workers, timers and operations on other objects may change each phase. */
const BY_ITSELF: { readonly [P in Phase]?: number } = {
  waiting: bits('queued', 'expired'),
  queued: bits('leased', 'expired'),
  leased: bits('running', 'succeeded', 'failed', 'timed_out', 'waiting', 'queued', 'deferred'),
  running: bits('succeeded', 'failed', 'timed_out', 'waiting', 'queued', 'deferred'),
  leasedC: bits('runningC', 'cancelled'),
  runningC: bits('cancelled'),
  deferred: bits('waiting', 'timed_out'),
  paused: bits('expired'),
  succeeded: bits('gone'),
  // A redrive retries dead letters. When there are too many, the oldest are forgotten.
  failed: bits('queued', 'gone'),
  timed_out: bits('queued', 'gone'),
  expired: bits('gone'),
  cancelled: bits('gone'),
};

/** The only changes that the end of a command may make to a task before the answer is written. */
const AT_END: { readonly [P in Phase]?: number } = {
  queued: bits('leased', 'expired'),
};

/** The effect of an operation in each phase. In phases that are not listed it is refused. */
const EFFECTS: {
  readonly [K in TaskOperation['kind']]: { readonly [P in Phase]?: number };
} = {
  submit: { absent: bits('waiting', 'queued') },
  get: each(~0, (phase) => bits(phase)),
  cancel: {
    ...each(IDLE | bits('deferred', 'cancelled'), () => bits('cancelled')),
    leased: bits('leasedC'),
    running: bits('runningC'),
    leasedC: bits('leasedC'),
    runningC: bits('runningC'),
  },
  retry: each(AGAIN, () => bits('queued')),
  complete: ending('succeeded'),
  fail: ending('failed'),
  pause: each(IDLE, () => bits('paused')),
  resume: {
    paused: bits('waiting', 'queued'),
    waiting: bits('waiting'),
    queued: bits('queued'),
  },
  patch: each(IDLE, (phase) => bits(phase)),
  signal: each(HELD, (phase) => bits(phase)),
};

function each(mask: number, effect: (phase: Phase) => number) {
  const chosen = PHASES.filter((phase) => (mask & bits(phase)) !== 0);
  return Object.fromEntries(chosen.map((phase) => [phase, effect(phase)]));
}

function ending(phase: Phase) {
  const open = IDLE | bits('leased', 'running', 'deferred');
  return {
    ...each(open, () => bits(phase)),
    ...each(bits('leasedC', 'runningC'), () => bits('cancelled')),
  };
}

/** The phases in which each refusal is correct. */
const REFUSED_IN: Readonly<Record<string, number>> = {
  task_not_found: UNKNOWN,
  task_running: HELD | bits('deferred'),
  task_not_leased: ~(HELD | UNKNOWN),
  worker_unreachable: HELD,
  task_not_finished: ~(ENDED | UNKNOWN),
};

function refusing(kind: TaskOperation['kind'], rejection: string): number {
  if (rejection !== 'task_finished') return REFUSED_IN[rejection] ?? ~0;
  if (kind === 'retry') return bits('succeeded');
  return kind === 'cancel' ? ENDED & ~bits('cancelled') : ENDED;
}

/** The phases that match what the answer says. */
function looking({ state, isCancelAsked, isByKey }: TaskOperation): number {
  if (state === undefined) return ~0;
  if (isByKey === true && (bits(state as Phase) & ENDED) !== 0) {
    return bits(state as Phase, 'gone');
  }
  if (state === 'running') {
    const asked = bits('runningC');
    const unasked = bits('running', 'deferred');
    return isCancelAsked === undefined ? asked | unasked : isCancelAsked ? asked : unasked;
  }
  if (state === 'leased') {
    if (isCancelAsked === undefined) return bits('leased', 'leasedC');
    return isCancelAsked ? bits('leasedC') : bits('leased');
  }
  return bits(state as Phase);
}

function steps(table: { readonly [P in Phase]?: number }, mask: number): number {
  let after = 0;
  for (let place = 0; mask >>> place !== 0; place++) {
    if ((mask & (1 << place)) !== 0) after |= table[PHASES[place]] ?? 0;
  }
  return after;
}

/** The phases that remain after one operation, before its command ends. */
function step(mask: number, { kind, rejection }: TaskOperation): number {
  return rejection === undefined ? steps(EFFECTS[kind], mask) : mask & refusing(kind, rejection);
}

const settled = new Map<string, number>();

/** One task as clients see it: the set of phases in which it may be. */
export class TaskSpecification implements Specification<number, TaskOperation> {
  readonly initial: number;

  /** If the submit was not answered, the task may exist or not. */
  constructor(isSubmitAnswered: boolean) {
    this.initial = isSubmitAnswered ? bits('absent') : bits('absent', 'waiting', 'queued');
  }

  settle(mask: number, loose: readonly TaskOperation[]): number {
    const kinds = new Set(loose.map(({ kind }) => kind));
    const key = `${mask} ${[...kinds].join()}`;
    const known = settled.get(key);
    if (known !== undefined) return known;
    let before = 0;
    let after = mask;
    while (after !== before) {
      before = after;
      after |= steps(BY_ITSELF, after);
      for (const kind of kinds) after |= steps(EFFECTS[kind], after);
    }
    settled.set(key, after);
    return after;
  }

  apply(mask: number, what: TaskOperation): number | undefined {
    const after = this.outcome(mask, what);
    return after === 0 ? undefined : after;
  }

  keyOf(mask: number): number {
    return mask;
  }

  private outcome(mask: number, what: TaskOperation): number {
    const answers = [...(what.earlier ?? []), what];
    const done = answers.reduce(step, mask);
    const after = done | steps(AT_END, done);
    return answers.reduce((left, answer) => left & looking(answer), after);
  }
}
