import { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';

/** The process of a worker, which restarts after it was killed. */
export class WorkerProcess {
  private readonly simulation: Simulation;
  private readonly name: string;
  private readonly start: () => void;
  current: SimProcess;
  private isOver = false;
  /** The process is dead and will be restarted. */
  private isDown = false;

  constructor(simulation: Simulation, name: string, start: () => void) {
    this.simulation = simulation;
    this.name = name;
    this.start = start;
    this.current = new SimProcess(simulation, name);
    this.current.after(0, start);
  }

  kill(restartAfterMs: number): void {
    if (this.isDown) return;
    this.isDown = true;
    this.current.kill();
    this.simulation.after(restartAfterMs, () => {
      if (this.isOver) return;
      this.isDown = false;
      this.current = new SimProcess(this.simulation, this.name);
      this.start();
    });
  }

  killForGood(): void {
    this.isOver = true;
    this.current.kill();
  }
}
