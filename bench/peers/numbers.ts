/**
 * A list of numbers outside the heap. A worker that kept an object per task would spend a tenth of
 * its time on moving them from one generation of the heap to the next.
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

  /** From the lowest to the highest. */
  sorted(): Float64Array {
    return this.values.slice(0, this.length).sort();
  }
}
