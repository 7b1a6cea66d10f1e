import type { Notes } from '@sluice/postgres';
import { LOSS_NOTE } from './accept-loss.ts';

const LOOK_MS = 500;

/** Looks whether an operator accepts the loss that made this server halt. */
export class LossWatch {
  private readonly notes: Pick<Notes, 'read'>;
  private readonly onAccepted: (generation: string) => void;
  private readonly timer: NodeJS.Timeout;
  private isStopped = false;
  private readonly generation: string;

  /** `generation` is the note that this server knows. */
  constructor(
    notes: Pick<Notes, 'read'>,
    generation: string,
    onAccepted: (generation: string) => void,
  ) {
    this.notes = notes;
    this.generation = generation;
    this.onAccepted = onAccepted;
    this.timer = setInterval(() => void this.look(), LOOK_MS);
  }

  stop(): void {
    this.isStopped = true;
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    // While the database is away nothing is accepted.
    const seen = await this.notes.read(LOSS_NOTE).catch(() => undefined);
    if (seen === undefined || seen === this.generation || this.isStopped) return;
    this.stop();
    this.onAccepted(seen);
  }
}
