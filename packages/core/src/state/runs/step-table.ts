import type { Archive } from '../../structures/archive.ts';
import { BuddyBlocks } from '../../structures/buddy-blocks.ts';
import { ColumnTable, columnsOf, type ReadonlyColumns } from '../../structures/columns.ts';
import { STEP_PENDING } from '../../workflow/run-state.ts';

/** Read-only view for code outside `apply`. */
export type StepReader = ReadonlyColumns<StepTable> &
  Readonly<Pick<StepTable, 'capacity' | 'used' | 'hasRoomFor' | 'nextFrame' | 'inUse'>>;

/**
 * Steps in columns. The steps of a run are one frame: contiguous slots, in the order of the
 * definition, so that a step is found by adding its place to the start of the frame.
 */
export class StepTable extends ColumnTable {
  /** Slot of the run. */
  readonly run = new Uint32Array(this.capacity);
  readonly state = new Uint8Array(this.capacity);
  readonly reason = new Uint8Array(this.capacity);
  /** Number of arrivals that it still waits for. */
  readonly waiting = new Uint16Array(this.capacity);
  /** Slot of its task plus one; 0 without a task. */
  readonly link = new Uint32Array(this.capacity);
  /** Links in the list of its run that its state names. */
  readonly next = new Int32Array(this.capacity);
  readonly previous = new Int32Array(this.capacity);
  /** Times and output of a step without a task. */
  readonly endedAt = new Float64Array(this.capacity);
  readonly output = new Float64Array(this.capacity);
  readonly outputLength = new Uint32Array(this.capacity);
  private readonly blocks = new BuddyBlocks(this.capacity);

  /** Slots from here on were never in use. */
  get used(): number {
    return this.blocks.used;
  }

  /** Slots in frames. */
  get inUse(): number {
    return this.blocks.inUse;
  }

  /** Whether frames of these sizes fit. */
  hasRoomFor(frames: readonly number[]): boolean {
    return this.blocks.hasRoomForAll(frames);
  }

  /** Where the next frame of this size begins. */
  nextFrame(steps: number): number {
    return this.blocks.next(steps);
  }

  /** Takes a frame for a run. Every step is pending and waits for its arrivals. */
  openFrame(run: number, arrivals: readonly number[]): number {
    const base = this.blocks.take(arrivals.length);
    arrivals.forEach((waiting, place) => {
      const slot = base + place;
      this.run[slot] = run;
      this.state[slot] = STEP_PENDING;
      this.waiting[slot] = waiting;
      this.reason[slot] = 0;
      this.link[slot] = 0;
      // Untouched pages cost nothing, and most steps have a task that knows the time.
      if (this.endedAt[slot] !== 0) this.endedAt[slot] = 0;
    });
    return base;
  }

  closeFrame(base: number, steps: number): void {
    this.blocks.giveBack(base, steps);
  }

  persist(archive: Archive): void {
    this.blocks.persist(archive);
    for (const [name, column] of columnsOf(this)) {
      if (column !== this.output) archive.column(name, column, this.used);
    }
  }
}
