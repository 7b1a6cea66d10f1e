import { drawInput, RETRIES, TASK_TYPES, TIMEOUTS } from '../clients/draw-task.ts';
import type { RandomStream } from '../kernel/random.ts';
import { FIXED_ZONES } from './naive-times.ts';

export interface ScheduleDraw {
  readonly random: RandomStream;
  /** The client's clock. */
  readonly now: number;
  /** A number that no other input has. */
  readonly n: number;
  /** Whether there are workflows that a schedule may start. */
  readonly hasRuns: boolean;
}

const PATTERNS = [
  '* * * * * *',
  '*/2 * * * * *',
  '*/5 * * * * *',
  '7,37 * * * * *',
  '10-20/5 */2 * * * *',
  '0 * * * * *',
  '* * * * *',
  '*/3 * * * *',
  '0-30 0,1,5,6 * * *',
  '15 3 * * *',
];

const PERIODS_MS = [300, 1000, 1700, 5000, 20_000];
const JITTERS_MS = [1, 200, 900, 4000, 30_000];

/** A schedule as a client sends it. */
export function drawSchedule(draw: ScheduleDraw): Record<string, unknown> {
  const { random } = draw;
  const spec = drawSpec(draw);
  const isPermanent = 'permanent' in spec;
  const every = typeof spec.everyMs === 'number' ? spec.everyMs : Number.POSITIVE_INFINITY;
  const jitters = JITTERS_MS.filter((ms) => ms < every);
  const choices: Record<string, unknown> = {};
  if (!isPermanent) {
    if (random.chance(0.6)) choices.misfire = random.pick(['skip', 'once', 'all']);
    if (choices.misfire === 'all' && random.chance(0.5)) choices.misfireMax = random.pick([1, 3]);
    if (random.chance(0.7)) {
      choices.overlap = random.pick(['allow', 'skip', 'queue', 'cancelPrevious']);
    }
    if (random.chance(0.3) && jitters.length > 0) choices.jitterMs = random.pick(jitters);
    if (random.chance(0.2)) choices.window = drawWindow(draw);
  }
  if (random.chance(0.1)) choices.paused = true;
  return { spec, ...drawTarget(draw), ...choices };
}

export function drawSpec({ random, now }: ScheduleDraw): Record<string, unknown> {
  const choice = random.next();
  if (choice < 0.35) {
    const zone = random.pick(Object.keys(FIXED_ZONES));
    return { cron: random.pick(PATTERNS), ...(zone === 'UTC' ? {} : { timeZone: zone }) };
  }
  if (choice < 0.75) {
    const everyMs = random.pick(PERIODS_MS);
    const mode = choice < 0.6 ? {} : { mode: 'fixedDelay' };
    const startAt = Math.round(now + random.integer(-60_000, 20_000));
    return { everyMs, ...mode, ...(random.chance(0.3) ? { startAt } : {}) };
  }
  if (choice < 0.85) return { at: Math.round(now + random.integer(-5000, 40_000)) };
  return { permanent: true, replicas: random.integer(1, 3) };
}

function drawTarget(draw: ScheduleDraw): Record<string, unknown> {
  const { random, n, hasRuns } = draw;
  if (hasRuns && random.chance(0.2)) {
    const flow = `flow${random.integer(0, 3)}`;
    return { run: { workflow: flow, input: { n, at: '{{scheduledAt}}' } } };
  }
  const input = { ...drawInput(random, n), ...(random.chance(0.5) ? FACTS : {}) };
  const task: Record<string, unknown> = { type: random.pick(TASK_TYPES), input };
  if (random.chance(0.5)) task.retry = random.pick(RETRIES);
  if (random.chance(0.3)) task.timeouts = random.pick(TIMEOUTS);
  if (random.chance(0.2)) task.priority = random.integer(0, 8);
  return { task };
}

const FACTS = { facts: '{{scheduledAt}} {{firedAt}} {{scheduleId}} {{fireNumber}} {{other}}' };

function drawWindow({ random, now }: ScheduleDraw): object {
  const from = Math.round(now + random.integer(-20_000, 20_000));
  const to = from + random.integer(1000, 90_000);
  return random.pick([{ from }, { to }, { from, to }]);
}

/** A merge patch of a schedule. */
export function drawPatch(draw: ScheduleDraw): Record<string, unknown> {
  const { random } = draw;
  const clear = { cron: null, timeZone: null, everyMs: null, mode: null, startAt: null, at: null };
  const patches: (() => Record<string, unknown>)[] = [
    () => ({ spec: { ...clear, permanent: null, replicas: null, ...drawSpec(draw) } }),
    () => ({ spec: { replicas: random.integer(1, 4) } }),
    () => ({ spec: { everyMs: random.pick(PERIODS_MS) } }),
    () => ({ spec: { cron: random.pick(PATTERNS) } }),
    () => ({ overlap: random.pick(['allow', 'skip', 'queue', 'cancelPrevious', null]) }),
    () => ({ misfire: random.pick(['skip', 'once', 'all', null]) }),
    () => ({ jitterMs: random.pick([...JITTERS_MS, null]) }),
    () => ({ window: random.chance(0.5) ? null : drawWindow(draw) }),
    () => ({ paused: random.chance(0.5) }),
    () => ({ task: { input: { n: draw.n } } }),
    () => ({ tags: { team: random.pick(['red', 'blue']) } }),
  ];
  return random.pick(patches)();
}
