import type { EventOf } from '@sluice/core';
import { UTF8 } from '../../base/utf8.ts';
import { type Details, sharedDetails, UsualTask } from '../records/usual-task.ts';
import { type Since, UnsavedTask } from './unsaved-task.ts';

/** Tasks of a slab, and bytes of their inputs. */
const TASKS_MAX = 4096;
const INPUT_BYTES_MAX = 1024 * 1024;

/** Memory of a task beside its input. */
const TASK_BYTES = 57;

const NOT_HERE = -1;

/**
 * Up to 4,096 tasks to which nothing has happened since their submit, by ascending number. Each is
 * a few numbers in columns and the bytes of its input, because a backlog of objects would be most
 * of the memory of a server, and most of the work of the garbage collector.
 */
export class FreshSlab {
  readonly numbers = new Float64Array(TASKS_MAX);
  readonly submittedAt = new Float64Array(TASKS_MAX);
  readonly runAt = new Float64Array(TASKS_MAX);
  readonly details: Details[] = [];
  private readonly since = new Float64Array(TASKS_MAX);
  private readonly position = new Float64Array(TASKS_MAX);
  private readonly inputs = new Uint8Array(INPUT_BYTES_MAX);
  private readonly inputEnds = new Uint32Array(TASKS_MAX);
  private readonly isHere = new Uint8Array(TASKS_MAX);
  count = 0;
  /** How many of them are still here. */
  left = 0;
  private inputBytes = 0;

  get last(): number {
    return this.numbers[this.count - 1];
  }

  /** Its size in memory. */
  get bytes(): number {
    return this.inputBytes + this.count * TASK_BYTES;
  }

  hasRoomFor({ input: { start, end } }: EventOf<'task_submitted'>): boolean {
    return this.count < TASKS_MAX && this.inputBytes + (end - start) <= INPUT_BYTES_MAX;
  }

  /** Returns the task's place. */
  add(event: EventOf<'task_submitted'>, { since, sinceAt, position }: Since): number {
    const { bytes, start, end } = event.input;
    const inputEnd = this.inputBytes + (end - start);
    const place = this.count;
    this.numbers[place] = event.task;
    this.submittedAt[place] = sinceAt;
    this.runAt[place] = event.runAt;
    this.details[place] = sharedDetails(event.taskType, event);
    this.since[place] = since;
    this.position[place] = position;
    if (start !== end) this.inputs.set(bytes.subarray(start, end), this.inputBytes);
    this.inputEnds[place] = inputEnd;
    this.inputBytes = inputEnd;
    this.isHere[place] = 1;
    this.count += 1;
    this.left += 1;
    return place;
  }

  /** Place of the task with that number, if it is still here. */
  placeOf(number: number): number | undefined {
    const place = this.search(number);
    return place !== NOT_HERE && this.has(place) ? place : undefined;
  }

  has(place: number): boolean {
    return this.isHere[place] === 1;
  }

  forget(place: number): void {
    this.isHere[place] = 0;
    this.left -= 1;
  }

  inputAt(place: number): string {
    const start = place === 0 ? 0 : this.inputEnds[place - 1];
    const end = this.inputEnds[place];
    return start === end ? '' : UTF8.decode(this.inputs.subarray(start, end));
  }

  /** Where the task's unsaved events begin. */
  sinceAt(place: number): Since {
    const [since, sinceAt] = [this.since[place], this.submittedAt[place]];
    return { since, sinceAt, position: this.position[place] };
  }

  /** The task as an object, to which something may happen. */
  taskAt(place: number): UnsavedTask {
    const task = UsualTask.fresh(this.details[place], {
      number: this.numbers[place],
      submittedAt: this.submittedAt[place],
      input: this.inputAt(place),
      runAt: this.runAt[place],
      step: undefined,
      isDiscarded: false,
    });
    return UnsavedTask.of(task, this.sinceAt(place));
  }

  private search(number: number): number {
    // Most numbers follow each other.
    const guess = number - this.numbers[0];
    if (guess >= 0 && guess < this.count && this.numbers[guess] === number) return guess;
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.numbers[middle];
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle - 1;
    }
    return NOT_HERE;
  }
}
