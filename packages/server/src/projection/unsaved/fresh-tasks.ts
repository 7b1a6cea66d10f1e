import type { EventOf } from '@sluice/core';
import { FreshSlab } from './fresh-slab.ts';
import { FreshTask } from './fresh-task.ts';
import type { Since, UnsavedTask } from './unsaved-task.ts';

/** Tasks to which nothing has happened since their submit: nearly all of a backlog. */
export class FreshTasks {
  /** By ascending number; only the last may be empty. */
  private readonly slabs: FreshSlab[] = [];

  /** Size of all in memory. */
  get bytes(): number {
    return this.slabs.reduce((sum, slab) => sum + slab.bytes, 0);
  }

  /** The record from which on the log is needed; undefined without tasks. */
  get oldest(): number | undefined {
    const [slab] = this.slabs;
    if (slab === undefined || slab.left === 0) return undefined;
    for (let place = 0; ; place++) if (slab.has(place)) return slab.sinceAt(place).since;
  }

  /** Returns undefined for a task that has to be kept in another way. */
  add(event: EventOf<'task_submitted'>, where: Since): FreshTask | undefined {
    const last = this.slabs.at(-1);
    // A task that came back has an old number.
    if (last !== undefined && event.task <= last.last) return undefined;
    const slab = last?.hasRoomFor(event) ? last : new FreshSlab();
    if (!slab.hasRoomFor(event)) return undefined;
    if (slab !== last) {
      this.slabs.push(slab);
      if (last?.left === 0) this.drop(last);
    }
    return new FreshTask(slab, slab.add(event, where));
  }

  has(number: number): boolean {
    return this.slabOf(number)?.placeOf(number) !== undefined;
  }

  /** The task, which stays. */
  read(number: number): UnsavedTask | undefined {
    const slab = this.slabOf(number);
    const place = slab?.placeOf(number);
    return place === undefined ? undefined : slab?.taskAt(place);
  }

  /** The task, which something happens to. */
  take(number: number): UnsavedTask | undefined {
    const slab = this.slabOf(number);
    const place = slab?.placeOf(number);
    if (slab === undefined || place === undefined) return undefined;
    const task = slab.taskAt(place);
    slab.forget(place);
    this.dropIfOver(slab);
    return task;
  }

  /** Oldest first. */
  *views(): Generator<FreshTask> {
    for (const slab of this.slabs) {
      for (let place = 0; place < slab.count; place++) {
        if (slab.has(place)) yield new FreshTask(slab, place);
      }
    }
  }

  /**
   * Tasks that were submitted until then, in portions, and the oldest of the others while all
   * together take more than `bytesMax`. Each portion is forgotten when the next one is asked for.
   */
  *due(until: number, bytesMax: number): Generator<UnsavedTask[]> {
    for (const slab of [...this.slabs]) {
      const isAll = this.bytes > bytesMax;
      const places: number[] = [];
      for (let place = 0; place < slab.count; place++) {
        const isOld = isAll || slab.submittedAt[place] <= until;
        if (isOld && slab.has(place)) places.push(place);
      }
      if (places.length === 0) return;
      yield places.map((place) => slab.taskAt(place));
      for (const place of places) slab.forget(place);
      this.dropIfOver(slab);
    }
  }

  private slabOf(number: number): FreshSlab | undefined {
    const { slabs } = this;
    let low = 0;
    let high = slabs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (slabs[middle].last < number) low = middle + 1;
      else high = middle;
    }
    return slabs[low];
  }

  /** The last one stays for the next task: a new one for each would cost more than the tasks. */
  private dropIfOver(slab: FreshSlab): void {
    if (slab.left === 0 && slab !== this.slabs.at(-1)) this.drop(slab);
  }

  /** Its places are not used again: searches may still read from it. */
  private drop(slab: FreshSlab): void {
    this.slabs.splice(this.slabs.indexOf(slab), 1);
  }
}
