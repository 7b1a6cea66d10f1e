import { QUEUED, WAITING } from '@sluice/core';
import type { ChangeRecord } from '../records/change-record.ts';
import { firstChange } from '../records/task-record.ts';
import type { Searched } from '../rows/row-query.ts';
import type { AnyRecord } from '../rows/stored-row.ts';
import type { FreshSlab } from './fresh-slab.ts';

/** A view of a task in a slab, for reading only. */
export class FreshTask implements Searched {
  private readonly slab: FreshSlab;
  private readonly place: number;

  constructor(slab: FreshSlab, place: number) {
    this.slab = slab;
    this.place = place;
  }

  get number(): number {
    return this.slab.numbers[this.place];
  }

  get submittedAt(): number {
    return this.slab.submittedAt[this.place];
  }

  get queue(): string {
    return this.slab.details[this.place].queue;
  }

  get parent(): string {
    return this.slab.details[this.place].parent;
  }

  get tags(): string {
    return this.slab.details[this.place].tags;
  }

  get state(): number {
    return this.slab.runAt[this.place] > this.submittedAt ? WAITING : QUEUED;
  }

  get input(): string {
    return this.slab.inputAt(this.place);
  }

  get result(): string {
    return '';
  }

  get isDiscarded(): boolean {
    return false;
  }

  get lastChange(): ChangeRecord {
    return firstChange({ runAt: this.slab.runAt[this.place] }, this.submittedAt);
  }

  get fullRecord(): AnyRecord {
    return this.slab.taskAt(this.place).fullRecord;
  }
}
