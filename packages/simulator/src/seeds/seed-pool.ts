import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { ProcessOrder, SeedAnswer } from './seed-process.ts';

export interface PoolOrder {
  readonly from: number;
  /** Number of seeds, or the wall-clock time after which no further seed starts. */
  readonly count?: number;
  readonly until?: number;
  readonly order: Omit<ProcessOrder, 'seed' | 'twice'>;
}

/** One in this many seeds runs twice, to check that both runs are equal. */
const TWICE_EVERY = 100;

/** Runs seeds in separate processes, one seed at a time in each. */
export class SeedPool {
  private readonly size: number;

  constructor(size = availableParallelism()) {
    this.size = size;
  }

  /** Yields results as they arrive. */
  async *run({ from, count, until, order }: PoolOrder): AsyncGenerator<SeedAnswer> {
    const isOver = (seed: number) => {
      return until === undefined ? seed >= from + (count ?? 1) : Date.now() >= until;
    };
    const answers: SeedAnswer[] = [];
    let wake: () => void = () => {};
    let next = from;
    let running = 0;
    const work = async (): Promise<void> => {
      const child = fork(new URL('./seed-process.ts', import.meta.url), {
        serialization: 'advanced',
      });
      try {
        while (!isOver(next)) {
          const seed = next++;
          answers.push(await ask(child, { ...order, seed, twice: seed % TWICE_EVERY === 0 }));
          wake();
        }
      } finally {
        child.kill();
        running -= 1;
        wake();
      }
    };
    const works = Array.from({ length: this.size }, () => {
      running += 1;
      return work();
    });
    while (running > 0 || answers.length > 0) {
      const answer = answers.shift();
      if (answer !== undefined) yield answer;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await Promise.all(works);
  }
}

function ask(child: ChildProcess, order: ProcessOrder): Promise<SeedAnswer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => {
      reject(new Error(`the process of seed ${order.seed} ended with exit code ${code}`));
    };
    child.once('exit', ended);
    child.once('message', (answer) => {
      child.off('exit', ended);
      resolve(answer as SeedAnswer);
    });
    child.send(order);
  });
}
