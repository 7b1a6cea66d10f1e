import type { RandomStream } from '../../kernel/random.ts';
import type { Simulation } from '../../kernel/simulation.ts';

/** The name of the database's machine. */
export const DATABASE = 'database';

/** Messages of one connection in one direction: they arrive in order. */
export type Pipe = (run: () => void) => void;

/**
 * The network between all machines. What is sent over a link that is cut arrives when the link
 * works again, as TCP repeats it.
 */
export class ClusterNetwork {
  private readonly simulation: Simulation;
  private readonly random: RandomStream;
  private readonly delayMs: number;
  /** When each cut ends, by direction. */
  private readonly cuts = new Map<string, number>();
  /** Added to each message, by direction, until a time. */
  private readonly slow = new Map<string, { readonly until: number; readonly ms: number }>();

  constructor(simulation: Simulation, delayMs: number) {
    this.simulation = simulation;
    this.random = simulation.random('network');
    this.delayMs = delayMs;
  }

  pipe(from: string, to: string): Pipe {
    let last = 0;
    return (run) => {
      const { now } = this.simulation;
      last = Math.max(last + 1e-6, this.arrival(from, to));
      this.simulation.after(last - now, run);
    };
  }

  /** In one direction. */
  cut(from: string, to: string, ms: number): void {
    this.cuts.set(`${from} ${to}`, this.simulation.now + ms);
    this.simulation.log('network', `${from} does not reach ${to} for ${Math.round(ms)} ms`);
  }

  isCut(from: string, to: string): boolean {
    return (this.cuts.get(`${from} ${to}`) ?? 0) > this.simulation.now;
  }

  /** In one direction. */
  slowDown(link: { readonly from: string; readonly to: string }, forMs: number, ms: number): void {
    const { from, to } = link;
    this.slow.set(`${from} ${to}`, { until: this.simulation.now + forMs, ms });
    this.simulation.log('network', `${from} to ${to} takes ${Math.round(ms)} ms`);
  }

  heal(): void {
    this.cuts.clear();
    this.slow.clear();
  }

  private arrival(from: string, to: string): number {
    const { random, simulation } = this;
    const { now } = simulation;
    const usual = this.delayMs * (0.2 + random.next());
    const slow = this.slow.get(`${from} ${to}`);
    const extra = slow !== undefined && slow.until > now ? slow.ms * random.next() : 0;
    const rare = random.chance(0.01) ? usual * random.logarithmic(2, 50) : 0;
    return Math.max(now, this.cuts.get(`${from} ${to}`) ?? 0) + usual + extra + rare;
  }
}
