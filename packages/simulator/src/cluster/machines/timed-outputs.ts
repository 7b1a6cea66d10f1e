import type { Outputs, ReadonlyState } from '@sluice/core';
import type { OutputPort, Releasable } from '@sluice/engine';

/** Reports when outputs are released, and when the first of them was made. */
export class TimedOutputs implements OutputPort {
  private readonly inner: OutputPort;
  private readonly now: () => number;
  private readonly released: (madeAt: number) => void;
  private madeAt: number | undefined;

  constructor(inner: OutputPort, now: () => number, released: (madeAt: number) => void) {
    this.inner = inner;
    this.now = now;
    this.released = released;
  }

  stage(outputs: Outputs, state: ReadonlyState): void {
    this.madeAt ??= this.now();
    this.inner.stage(outputs, state);
  }

  seal(): Releasable | undefined {
    const sealed = this.inner.seal();
    const { madeAt } = this;
    this.madeAt = undefined;
    if (sealed === undefined) return undefined;
    return {
      release: () => {
        if (madeAt !== undefined) this.released(madeAt);
        sealed.release();
      },
      drop: (cause) => sealed.drop(cause),
    };
  }
}
