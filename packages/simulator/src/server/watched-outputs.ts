import type { Outputs, ReadonlyState } from '@sluice/core';
import type { OutputPort, Releasable } from '@sluice/engine';

/** Reports when outputs are released, and how many records they may depend on. */
export class WatchedOutputs implements OutputPort {
  private readonly inner: OutputPort;
  /** Number of records, including those that are not durable yet. */
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
