import type { Partition, Slot } from '@sluice/core';
import type { Batch } from './batch.ts';

type Marks = Pick<Partition, 'batchOfTask' | 'batchOfRun' | 'workerRenames'>;

/** Where a view says what it shows. */
export interface Shows {
  task(slot: Slot): void;
  /** The run and its steps. A view that also shows tasks of the steps says so for each task. */
  run(slot: Slot): void;
}

/**
 * Finds out which batch a view has to wait for (engine.untouched).
 *
 * A task also shows the name of its worker, which any task of the same session can change. That is
 * rare: views of all tasks wait for a batch with such a change.
 *
 * Numbers of batches repeat, so a mark can be that of an old batch by chance. The view then waits
 * without need, which is safe.
 */
export class ShownParts implements Shows {
  private readonly marks: Marks;
  private open = 0;
  private appending = -1;
  private isInOpen = false;
  private isInAppending = false;

  constructor(marks: Marks) {
    this.marks = marks;
  }

  /** Forgets what the last view showed. */
  begin(open: Batch, appending: Batch | undefined): void {
    this.open = open.number;
    this.appending = appending?.number ?? -1;
    this.isInOpen = open.renames !== this.marks.workerRenames;
    this.isInAppending = appending !== undefined && appending.renames !== open.renames;
  }

  task(slot: Slot): void {
    this.note(this.marks.batchOfTask(slot));
  }

  run(slot: Slot): void {
    this.note(this.marks.batchOfRun(slot));
  }

  /** The newest batch that touched what was shown. */
  get newest(): 'open' | 'appending' | undefined {
    if (this.isInOpen) return 'open';
    return this.isInAppending ? 'appending' : undefined;
  }

  private note(batch: number): void {
    if (batch === this.open) this.isInOpen = true;
    else if (batch === this.appending) this.isInAppending = true;
  }
}
