/**
 * A list of numbers outside the heap. If a worker kept an object per task, it would spend a tenth
 * of its time on moving them between generations of the heap.
 */
export class Numbers {
  private values = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  at(place: number): number {
    return this.values[place];
  }

  clear(): void {
    this.length = 0;
  }

  /** In ascending order. */
  sorted(): Float64Array {
    return this.values.slice(0, this.length).sort();
  }
}
