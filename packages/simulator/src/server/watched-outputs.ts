import type { Outputs, ReadonlyState } from '@sluice/core';
import type { OutputPort, Releasable } from '@sluice/engine';

/** Outputs that tell somebody when they are let out, and of which command they can have seen. */
export class WatchedOutputs implements OutputPort {
  private readonly inner: OutputPort;
  /** How many records there are, with those that are not durable yet. */
  private readonly records: () => number;
  private readonly released: (records: number) => void;

  constructor(inner: OutputPort, records: () => number, released: (records: number) => void) {
    this.inner = inner;
    this.records = records;
    this.released = released;
  }

  stage(outputs: Outputs, state: ReadonlyState): void {
    this.inner.stage(outputs, state);
  }

  seal(): Releasable | undefined {
    const sealed = this.inner.seal();
    if (sealed === undefined) return undefined;
    const records = this.records();
    return {
      release: () => {
        this.released(records);
        sealed.release();
      },
      drop: (cause) => sealed.drop(cause),
    };
  }
}
