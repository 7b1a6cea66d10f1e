import type { LeaseNumber, SessionId } from '../../base/ids.ts';
import { invariant } from '../../base/invariant.ts';
import { leaseTokenText } from '../../base/lease-token.ts';
import type { ReportAttempts } from '../../commands/attempts/report-attempts.ts';
import type { Command } from '../../commands/commands.ts';
import type { AttachSession } from '../../commands/sessions/attach-session.ts';
import type { SubmitTasks } from '../../commands/tasks/submit-tasks.ts';
import type { MatchingOptions } from '../../decision/matching-options.ts';
import { RecordWriter } from '../../events/record-writer.ts';
import { Partition } from '../../partition.ts';
import type { Resources } from '../../task/resources.ts';
import type { Mix } from '../packing/fractional-optimum.ts';
import { testUtf8 } from '../test-utf8.ts';
import type { SeededRandom } from './seeded-random.ts';

const KINDS = ['cpu', 'memoryMb', 'diskMb'] as const;

/** Maximum number of tasks per submit. */
const BATCH_MAX = 1000;

const LIMITS = {
  tasksMax: 50_000,
  finishedTasksMax: 10,
  deadLettersMax: 10,
  callbacksMax: 10,
  sessionsMax: 100,
  dedupeKeysMax: 10,
  payloadBytesMax: 1_000_000,
  unsentBytesMax: Number.MAX_SAFE_INTEGER,
  arenaChunkBytes: 1024,
};

interface Running {
  readonly worker: number;
  readonly shape: number;
  readonly lease: string;
}

interface RunOptions {
  readonly matching: Partial<MatchingOptions>;
  /** How long a task takes on average. */
  readonly meanMs: number;
}

/**
 * Workers with more work than they can run. Tasks end at random times, each equally likely to be
 * next, and the free room is filled at once. This class keeps its sums in whole numbers and throws
 * when a worker gets more than it offers.
 */
export class BacklogRun {
  /** Number of running tasks of each shape. */
  readonly runningOf: number[];
  private readonly running: Running[] = [];
  private readonly free: number[][];
  private readonly mix: Mix;
  private readonly random: SeededRandom;
  private readonly meanMs: number;
  private readonly partition: Partition;
  private readonly writer = new RecordWriter(testUtf8);
  /** Shape of each task, by task number. */
  private readonly shapes: number[] = [-1];
  private now = 1_000_000;

  constructor(mix: Mix, random: SeededRandom, { matching, meanMs }: RunOptions) {
    this.mix = mix;
    this.random = random;
    this.meanMs = meanMs;
    this.runningOf = mix.needs.map(() => 0);
    this.free = mix.offers.map((offer) => [...offer]);
    this.partition = new Partition({ partition: 0, limits: LIMITS, utf8: testUtf8, matching });
    mix.offers.forEach((offer, worker) => {
      this.execute<AttachSession>({
        type: 'attach_session',
        namespace: 'default',
        newSession: `s${worker}` as SessionId,
        worker: 'worker',
        version: '1',
        types: [{ type: 'task' }],
        capacity: { slots: LIMITS.tasksMax, ...resourcesOf(offer) },
        labels: new Map(),
        leaseMs: 600_000,
      });
    });
  }

  /** Number of workers without a task. */
  get idleWorkers(): number {
    const busy = new Set(this.running.map(({ worker }) => worker));
    return this.mix.offers.length - busy.size;
  }

  /** Submits tasks of these shapes, in this order. */
  submit(shapes: readonly number[]): void {
    for (let sent = 0; sent < shapes.length; sent += BATCH_MAX) {
      const batch = shapes.slice(sent, sent + BATCH_MAX);
      this.shapes.push(...batch);
      this.execute<SubmitTasks>({
        type: 'submit_tasks',
        namespace: 'default',
        tasks: batch.map((shape) => ({
          type: 'task',
          resources: resourcesOf(this.mix.needs[shape]),
        })),
        inputs: new Uint8Array(0),
        inputEnds: batch.map(() => 0),
      });
    }
  }

  /** A random task ends, and another one of the mix arrives. Returns how much time passed. */
  turn(): number {
    const passedMs = this.meanMs / this.running.length;
    this.now += passedMs;
    const [ended] = this.running.splice(this.random.between(0, this.running.length - 1), 1);
    this.runningOf[ended.shape] -= 1;
    this.use(ended, -1);
    this.execute<ReportAttempts>({
      type: 'report_attempts',
      namespace: 'default',
      session: `s${ended.worker}` as SessionId,
      reports: [{ kind: 'succeeded', lease: ended.lease }],
      seed: 1,
      payloads: new Uint8Array(0),
      payloadEnds: [0],
    });
    this.submit([this.random.placeIn(this.mix.parts)]);
    return passedMs;
  }

  private execute<C extends Command>(command: Omit<C, 'now'>): void {
    this.writer.reset();
    const now = Math.floor(this.now);
    this.partition.execute({ ...command, now } as unknown as C, this.writer);
    const { outputs, state } = this.partition;
    outputs.pushSlots.forEach((slot, place) => {
      const worker = Number(outputs.pushSessions[place].slice(1));
      const shape = this.shapes[state.tasks.number[slot]];
      const number = state.tasks.lease[slot] as LeaseNumber;
      const task = { worker, shape, lease: leaseTokenText({ partition: 0, slot, number }) };
      this.running.push(task);
      this.runningOf[shape] += 1;
      this.use(task, 1);
    });
  }

  private use({ worker, shape }: Running, sign: 1 | -1): void {
    const free = this.free[worker];
    this.mix.needs[shape].forEach((need, kind) => {
      free[kind] -= sign * need;
      invariant(
        free[kind] >= 0,
        `worker ${worker} has no more of a kind than it said (matching.within-offer)`,
      );
    });
  }
}

function resourcesOf(amounts: readonly number[]): Resources {
  return Object.fromEntries(amounts.map((amount, kind) => [KINDS[kind], amount]));
}
