import type { RandomStream } from '../kernel/random.ts';
import type { Operation } from '../server/operations.ts';
import { drawInput, TASK_TYPES } from './draw-task.ts';

/** The objects that an operation may target. */
export interface Targets {
  /** The id of a task, or an id that no task has. */
  task(): string;
  /** A number that no input has. */
  number(): number;
  /** The number of a redrive that was started. */
  redrive(): number;
  /** The id of a session, open or not. */
  session(): string;
}

type Draw = (random: RandomStream, targets: Targets) => Operation;

function several(random: RandomStream, targets: Targets): string[] {
  const count = random.chance(0.8) ? 1 : random.integer(2, 5);
  return Array.from({ length: count }, () => targets.task());
}

const cancel: Draw = (random, targets) => ({
  type: 'cancel_tasks',
  ids: several(random, targets),
  graceMs: random.pick([0, 500, 10_000]),
});

const retry: Draw = (random, targets) => ({
  type: 'retry_tasks',
  ids: several(random, targets),
  ...(random.chance(0.4) ? { input: drawInput(random, targets.number()), by: BY } : {}),
});

const patch: Draw = (random, targets) => ({
  type: 'patch_tasks',
  patches: several(random, targets).map((id) => ({
    id,
    ...(random.chance(0.5) ? { priority: random.pick([null, 0, 8]) } : {}),
    ...(random.chance(0.3) ? { timeouts: random.pick([null, { totalMs: 9000 }]) } : {}),
    ...(random.chance(0.3) ? { tags: random.pick([null, { region: 'us' }]) } : {}),
  })),
});

const end: Draw = (random, targets) => {
  const outcome = random.pick(['succeeded', 'failed']);
  return { type: 'end_task', id: targets.task(), outcome, payload: '{"from":"outside"}' };
};

const pause: Draw = (_, targets) => ({ type: 'pause_task', id: targets.task() });

const resume: Draw = (_, targets) => ({ type: 'resume_task', id: targets.task() });

const ofQueue = (random: RandomStream) =>
  random.chance(0.5) ? { taskType: random.pick(TASK_TYPES) } : {};

/** The admin that audit records name. */
const BY = { actor: 'k_0', address: '192.0.2.1', request: 'q_1', subject: 'a key', detail: '' };

function drawKey(random: RandomStream): string {
  return `k_${random.integer(0, 5)}`;
}

function createKey(random: RandomStream): Operation {
  const id = drawKey(random);
  const described = {
    namespace: random.chance(0.8) ? 'default' : 'foreign',
    role: random.chance(0.7) ? 'admin' : 'worker',
    name: '',
  };
  const key = random.chance(0.7) ? described : { replaces: drawKey(random), overlapMs: 1000 };
  const expiry = random.chance(0.5) ? {} : { expiresInMs: 5000 };
  return { type: 'create_access_key', id, hash: `hash of ${id}`, key, ...expiry, by: BY };
}

const OPERATIONS: readonly (readonly [weight: number, draw: Draw])[] = [
  [6, cancel],
  [4, retry],
  [4, patch],
  [3, end],
  [2, pause],
  [3, resume],
  [2, (_, targets) => ({ type: 'signal_task', id: targets.task(), name: 'poke', data: '{"a":1}' })],
  [1, (random) => setQueue(random, true)],
  [3, (random) => setQueue(random, false)],
  [
    2,
    (random) => ({
      type: 'start_redrive',
      ratePerSec: random.pick([1, 50]),
      ...ofQueue(random),
      by: BY,
    }),
  ],
  [1, (_, targets) => ({ type: 'end_redrive', redrive: targets.redrive(), by: BY })],
  [1, (random) => ({ type: 'discard_dead_letters', ...ofQueue(random), by: BY })],
  [
    1,
    (random) => ({
      type: 'put_task_type',
      taskType: random.pick(TASK_TYPES),
      ...defined(random),
      by: BY,
    }),
  ],
  [0.5, createKey],
  [0.5, (random) => ({ type: 'revoke_access_key', id: drawKey(random), by: BY })],
  // A drained worker gets no tasks until it opens another session.
  [0.3, (_, targets) => ({ type: 'drain_session', session: targets.session(), by: BY })],
];

/** An operation on a task, in its namespace. */
export function drawTaskOperation(random: RandomStream, targets: Targets): Operation {
  const draw = random.pick([cancel, retry, patch, end, pause, resume]);
  return { ...draw(random, targets), namespace: 'default' };
}

/** A definition with defaults, or no definition, which removes it. */
function defined(random: RandomStream): object {
  return random.chance(0.3) ? {} : { definition: { priority: random.integer(0, 8) } };
}

function setQueue(random: RandomStream, paused: boolean): Operation {
  return { type: 'set_queue_paused', taskType: random.pick(TASK_TYPES), paused, by: BY };
}

const WEIGHTS = OPERATIONS.reduce((sum, [weight]) => sum + weight, 0);

/** An operation of an admin. Sometimes its namespace is not that of the tasks. */
export function drawOperation(random: RandomStream, targets: Targets): Operation {
  const namespace = random.chance(0.05) ? 'foreign' : 'default';
  let at = random.next() * WEIGHTS;
  for (const [weight, draw] of OPERATIONS) {
    at -= weight;
    if (at < 0) return { ...draw(random, targets), namespace };
  }
  return { ...cancel(random, targets), namespace };
}
