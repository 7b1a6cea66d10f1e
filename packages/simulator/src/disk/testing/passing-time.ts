import { Simulation } from '../../kernel/simulation.ts';

/** Virtual time that passes by itself while something is planned, so that a test can await. */
export class PassingTime {
  readonly simulation: Simulation;
  private planned = 0;
  private isPassing = false;

  constructor(seed: number) {
    this.simulation = new Simulation({ seed });
  }

  readonly after = (delayMs: number, run: () => void): void => {
    this.planned += 1;
    this.simulation.after(delayMs, () => {
      this.planned -= 1;
      run();
    });
    void this.pass();
  };

  private async pass(): Promise<void> {
    if (this.isPassing) return;
    this.isPassing = true;
    // Nothing happens in the turn in which it is planned.
    await undefined;
    while (this.planned > 0) await this.simulation.runUntil(this.simulation.now + 1);
    this.isPassing = false;
  }
}
