import { CHILDREN_SCHEMA } from '../../snapshot/snapshot-archive.ts';
import type { Archive } from '../../structures/archive.ts';
import { BuddyBlocks } from '../../structures/buddy-blocks.ts';
import { float64s, int32s, uint8s, uint16s, uint32s } from '../../structures/column-memory.ts';
import {
  type Column,
  ColumnTable,
  columnsOf,
  type ReadonlyColumns,
} from '../../structures/columns.ts';
import { STEP_PENDING } from '../../workflow/run-state.ts';

/** Read-only view for code outside `apply`. */
export type StepReader = ReadonlyColumns<StepTable> &
  Readonly<Pick<StepTable, 'capacity' | 'used' | 'hasRoomFor' | 'nextFrame' | 'inUse'>>;

/** Where a frame belongs. */
export interface FrameOwner {
  /** Slot of the run. */
  readonly run: number;
  /** Place of the first step of the scope. */
  readonly first: number;
  /** Slot of the loop or fork plus one; 0 for the frame of the definition itself. */
  readonly owner: number;
}

interface Fresh {
  readonly run: number;
  readonly node: number;
  readonly owner: number;
  readonly waiting: number;
}

/**
 * Steps in columns. The steps of a scope are one frame: contiguous slots, in the order of the
 * definition, so that a step is found by adding its distance to the start of the frame. A loop
 * has a frame for each iteration, a dynamic fork one with a slot for each branch.
 */
export class StepTable extends ColumnTable {
  /** Slot of the run. */
  readonly run = uint32s(this.capacity);
  /** Its place in the definition. */
  readonly node = uint16s(this.capacity);
  /** Slot of the loop whose body it is in, or of its dynamic fork, plus one; 0 for neither. */
  readonly owner = uint32s(this.capacity);
  readonly state = uint8s(this.capacity);
  readonly reason = uint8s(this.capacity);
  /** Number of arrivals that it still waits for. */
  readonly waiting = uint16s(this.capacity);
  /** Slot of its task plus one; 0 without a task. */
  readonly link = uint32s(this.capacity);
  /** Links in the list of its run that its state names. */
  readonly next = int32s(this.capacity);
  readonly previous = int32s(this.capacity);
  /** Start of the newest frame of a loop, or of the branches of a fork, plus one; 0 without. */
  readonly inner = uint32s(this.capacity);
  /** In the first slot of a frame: start of the frame before it plus one; 0 for the oldest. */
  readonly earlier = uint32s(this.capacity);
  /** Number of iterations that a loop has begun. */
  readonly iteration = uint32s(this.capacity);
  /** Length of the list that a loop goes over, or number of branches of a dynamic fork. */
  readonly items = uint32s(this.capacity);
  /** Number of its newest evaluation, and 1 while its result is awaited. */
  readonly evaluation = uint32s(this.capacity);
  readonly isEvaluating = uint8s(this.capacity);
  /** When a WAIT is over, while it has a timer; once a call with a key ended it, that key. */
  readonly until = float64s(this.capacity);
  /** Number and start of the run that it started; 0 without one. */
  readonly child = float64s(this.capacity);
  readonly childAt = float64s(this.capacity);
  /** Times, input and output of a step without a task. */
  readonly startedAt = float64s(this.capacity);
  readonly endedAt = float64s(this.capacity);
  readonly input = float64s(this.capacity);
  readonly inputLength = uint32s(this.capacity);
  readonly output = float64s(this.capacity);
  readonly outputLength = uint32s(this.capacity);
  private readonly blocks = new BuddyBlocks(this.capacity);
  private readonly rarelyUsed: readonly Column[] = [
    this.inner,
    this.earlier,
    this.iteration,
    this.items,
    this.evaluation,
    this.isEvaluating,
    this.startedAt,
    this.endedAt,
    this.child,
    this.childAt,
  ];

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

  /** Takes a frame. Every step is pending and waits for its arrivals. */
  openFrame({ run, first, owner }: FrameOwner, arrivals: readonly number[]): number {
    const base = this.blocks.take(arrivals.length);
    arrivals.forEach((waiting, place) => {
      this.fresh(base + place, { run, node: first + place, owner, waiting });
    });
    return base;
  }

  /** Takes the frame of a dynamic fork: all its branches are the same step of the definition. */
  openBranches({ run, first, owner }: FrameOwner, count: number): number {
    const { used } = this.blocks;
    const base = this.blocks.take(count);
    const end = base + count;
    // Column by column: a fork of 10,000 is one command.
    this.run.fill(run, base, end);
    this.node.fill(first, base, end);
    this.state.fill(STEP_PENDING, base, end);
    for (const column of [this.waiting, this.reason, this.link]) column.fill(0, base, end);
    for (const column of base >= used ? [] : this.rarelyUsed) {
      for (let slot = base; slot < end; slot++) if (column[slot] !== 0) column[slot] = 0;
    }
    this.owner.fill(owner, base, end);
    return base;
  }

  private fresh(slot: number, step: Fresh): void {
    this.run[slot] = step.run;
    this.node[slot] = step.node;
    this.state[slot] = STEP_PENDING;
    this.waiting[slot] = step.waiting;
    this.reason[slot] = 0;
    this.link[slot] = 0;
    // Untouched pages cost nothing, and most steps have a task that knows the time.
    for (const column of this.rarelyUsed) if (column[slot] !== 0) column[slot] = 0;
    if (step.owner !== this.owner[slot]) this.owner[slot] = step.owner;
  }

  closeFrame(base: number, steps: number): void {
    this.blocks.giveBack(base, steps);
  }

  persist(archive: Archive): void {
    this.blocks.persist(archive);
    for (const [name, column] of columnsOf(this)) {
      const isNewer = column === this.child || column === this.childAt;
      if (isNewer && archive.schema < CHILDREN_SCHEMA) continue;
      if (column !== this.input && column !== this.output) archive.column(name, column, this.used);
    }
  }
}
