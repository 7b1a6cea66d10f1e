import type { Outputs, ReadonlyState } from '@sluice/core';
import type { Releasable } from '../batch.ts';
import type { OutputPort } from '../output-port.ts';

/** Records the outputs to workers, as one line each. */
export class RecordingOutputs implements OutputPort {
  readonly released: string[] = [];
  readonly dropped: string[] = [];
  /** Everything that was ever staged, in order. */
  readonly all: string[] = [];
  private staged: string[] = [];

  stage(outputs: Outputs, state: ReadonlyState): void {
    outputs.pushSlots.forEach((slot, index) => {
      this.add(`push ${state.tasks.number[slot]} to ${outputs.pushSessions[index]}`);
    });
    for (const slot of outputs.endedSlots) this.add(`ended ${state.tasks.number[slot]}`);
    for (const session of outputs.closedSessions) this.add(`closed ${session}`);
  }

  /** Stages a line, as the server's streams do with a `welcome` while the reply is rendered. */
  add(line: string): void {
    this.staged.push(line);
    this.all.push(line);
  }

  seal(): Releasable | undefined {
    const lines = this.staged;
    if (lines.length === 0) return undefined;
    this.staged = [];
    return {
      release: () => this.released.push(...lines),
      drop: () => this.dropped.push(...lines),
    };
  }
}
