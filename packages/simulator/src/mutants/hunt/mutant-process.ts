import { type ChildProcess, fork } from 'node:child_process';
import type { Mode } from '../../plan/mode.ts';
import type { Overrides } from '../../plan/overrides.ts';
import type { SeedAnswer } from '../../seeds/seed-process.ts';
import { MUTANT_VARIABLE, type Mutant, NOT_PLANTED_EXIT_CODE } from '../mutant.ts';
import { watchCpu } from './cpu-watch.ts';

/** The outcome of one seed. */
export interface SeedOutcome {
  /** Undefined when every promise held. */
  readonly failure?: Failure;
  readonly cpuMs: number;
}

/** A seed that takes more CPU than this will not end. Normal seeds take a few seconds. */
const SEED_CPU_MS_MAX = 60_000;

/** Runs seeds one after the other in a separate process, with or without a planted bug. */
export class MutantProcess {
  private readonly mutant: Mutant | undefined;
  private readonly seedCpuMsMax: number;
  private child: ChildProcess | undefined;
  /** The end of the child's error output. */
  private lastWords = '';

  constructor(mutant?: Mutant, seedCpuMsMax = SEED_CPU_MS_MAX) {
    this.mutant = mutant;
    this.seedCpuMsMax = seedCpuMsMax;
  }

  /** A process that exits, or that does not finish, is an outcome too. */
  run(seed: number, mode: Mode, overrides: Overrides = {}): Promise<SeedOutcome> {
    const child = this.child ?? this.start();
    const began = performance.now();
    const { seedCpuMsMax } = this;
    return new Promise((resolve, reject) => {
      const settle = (outcome: Omit<SeedOutcome, 'cpuMs'>, cpuMs?: number) => {
        stopWatch();
        child.removeAllListeners();
        resolve({ ...outcome, cpuMs: cpuMs ?? performance.now() - began });
      };
      const stopWatch = watchCpu(child.pid ?? 0, seedCpuMsMax, () => {
        this.end();
        const message = `no answer after ${seedCpuMsMax} ms of CPU, or it waits for ever`;
        settle({ failure: { rule: 'no end', message } }, seedCpuMsMax);
      });
      child.once('message', ({ result: { failure }, cpuMs }: SeedAnswer) => {
        settle(failure === undefined ? {} : { failure: named(failure) }, cpuMs);
      });
      child.once('exit', (code, signal) => {
        this.child = undefined;
        if (code === NOT_PLANTED_EXIT_CODE) {
          stopWatch();
          reject(new Error(`no world loads packages/${this.mutant?.file}`));
          return;
        }
        const message = `exit code ${code ?? signal}: ${this.lastWords}`;
        settle({ failure: { rule: errorName(this.lastWords), message } });
      });
      child.send({ seed, mode, overrides });
    });
  }

  end(): void {
    this.child?.removeAllListeners();
    this.child?.kill();
    this.child = undefined;
  }

  private start(): ChildProcess {
    const plantFile = new URL('./plant-mutant.ts', import.meta.url).href;
    const child = fork(new URL('../../seeds/seed-process.ts', import.meta.url), {
      serialization: 'advanced',
      execArgv: this.mutant === undefined ? [] : ['--import', plantFile],
      env: { ...process.env, [MUTANT_VARIABLE]: JSON.stringify(this.mutant) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.lastWords = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      this.lastWords = (this.lastWords + chunk.toString()).slice(-LAST_WORDS_MAX);
    });
    this.child = child;
    return child;
  }
}

const LAST_WORDS_MAX = 4000;

interface Failure {
  readonly rule: string;
  readonly message: string;
}

/** A plain `Error` may have a better name in its message. */
function named({ rule, message }: Failure): Failure {
  return { rule: rule === 'Error' ? errorName(message, rule) : rule, message };
}

/** The name of the error that ended a process. */
function errorName(words: string, otherwise = 'process ended'): string {
  return /^(?:Uncaught )?(\w*Error)\b/m.exec(words)?.[1] ?? otherwise;
}
