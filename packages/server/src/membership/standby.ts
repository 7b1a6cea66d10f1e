import { type FollowedPartition, LogChangedError, LogFollower } from '@sluice/engine';

type FollowerOptions = Parameters<typeof LogFollower.start>[0];

export interface StandbyOptions {
  readonly follower: FollowerOptions;
  /** Records that are known to be committed: a log that has fewer went back in time. */
  readonly committed: number;
  /** Called once, when the log does not continue what was read. Nothing is followed any more. */
  readonly onWentBack: (cause: LogChangedError) => void;
  /** Closes what the follower reads from. */
  readonly close: () => Promise<void>;
  /** Called when following failed; it begins again from the newest snapshot. */
  readonly onTrouble: (cause: Error) => void;
}

/** How often the log is read on. */
const FOLLOW_MS = 100;

/** A reading that is older says nothing about the log of now. */
const LATELY_MS = 2_000;

/** After a failure: the database may be away. */
const RETRY_MS = 1_000;

/** Keeps a partition in memory up to the end of the log, so that taking over is quick. */
export class Standby {
  private readonly options: StandbyOptions;
  private follower: LogFollower | undefined;
  private isClosed = false;
  private wake: () => void = () => undefined;
  private readonly running: Promise<void>;
  /** When the log was last read to its end. */
  private readAt = 0;
  /** The problem that was last reported; empty when all is well. */
  private trouble = '';

  constructor(options: StandbyOptions) {
    this.options = options;
    this.running = this.run();
  }

  /** Whether the partition is in memory and was at the end of the log lately. */
  get isReady(): boolean {
    return this.follower !== undefined && performance.now() - this.readAt < LATELY_MS;
  }

  get position(): number {
    return this.follower?.reached ?? 0;
  }

  /** Stops following, and hands the partition over. Undefined when there is none. */
  async finish(): Promise<FollowedPartition | undefined> {
    this.isClosed = true;
    this.wake();
    await this.running;
    await this.options.close().catch(() => undefined);
    return this.follower?.followed;
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      try {
        if (this.follower === undefined) this.follower = await this.begin();
        else await this.follower.catchUp();
        this.trouble = '';
        this.readAt = performance.now();
        await this.pause(FOLLOW_MS);
      } catch (cause) {
        // A connection that was lost changes nothing; anything else makes the memory useless (L5).
        if (!isConnectionLost(cause)) this.follower = undefined;
        if (cause instanceof LogChangedError) return this.options.onWentBack(cause);
        this.troubled(cause as Error);
        await this.pause(RETRY_MS);
      }
    }
  }

  private async begin(): Promise<LogFollower> {
    const follower = await LogFollower.start(this.options.follower);
    const { committed } = this.options;
    if (follower.reached < committed) {
      throw new LogChangedError(
        `the log has ${follower.reached} records, and had ${committed} before`,
      );
    }
    return follower;
  }

  /** The same problem is reported once, though it is met each second. */
  private troubled(cause: Error): void {
    if (cause.message === this.trouble) return;
    this.trouble = cause.message;
    this.options.onTrouble(cause);
  }

  private pause(ms: number): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isConnectionLost(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ConnectionLostError';
}
