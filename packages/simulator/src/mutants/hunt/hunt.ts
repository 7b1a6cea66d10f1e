import type { Mode } from '../../plan/mode.ts';
import { flagsOf, type Overrides } from '../../plan/overrides.ts';
import type { Mutant } from '../mutant.ts';
import { MutantProcess } from './mutant-process.ts';

/** How the search for one planted bug ended. */
export interface Hunt {
  readonly mutant: Mutant;
  /** Undefined when the bug was not found in time. */
  readonly catch?: Catch;
  readonly seeds: number;
  readonly cpuMs: number;
}

interface Catch {
  readonly seed: number;
  readonly mode: Mode;
  /** The number of the rule, or the name of the error when no checker found the bug. */
  readonly rule: string;
  readonly message: string;
}

/** Runs seeds from 1 on until one fails that passes without the planted bug. */
export async function hunt(mutant: Mutant, control: Control, cpuMsMax: number): Promise<Hunt> {
  const process = new MutantProcess(mutant);
  let cpuMs = 0;
  try {
    for (let seed = 1; ; seed++) {
      const mode = modeOf(seed);
      const outcome = await process.run(seed, mode, overridesOf(mutant));
      cpuMs += outcome.cpuMs;
      if (outcome.failure !== undefined && (await control.passes(seed, mutant))) {
        const { rule, message } = outcome.failure;
        return { mutant, catch: { seed, mode, rule, message }, seeds: seed, cpuMs };
      }
      if (cpuMs >= cpuMsMax) return { mutant, seeds: seed, cpuMs };
    }
  } finally {
    process.end();
  }
}

/** Every second world is checked for liveness. */
function modeOf(seed: number): Mode {
  return seed % 2 === 0 ? 'liveness' : 'safety';
}

type Worlds = Pick<Mutant, 'inRuns' | 'inSchedules' | 'inAgents' | 'inCluster'>;

function overridesOf({ inRuns, inSchedules, inAgents, inCluster }: Worlds): Overrides {
  return {
    ...(inRuns === true ? { runs: true } : {}),
    ...(inSchedules === true ? { schedules: true } : {}),
    ...(inAgents === true ? { agents: true } : {}),
    ...(inCluster === true ? { cluster: true } : {}),
  };
}

/** The same seeds without a planted bug. A seed that also fails here does not catch a bug. */
export class Control {
  private readonly process = new MutantProcess();
  private readonly passed = new Map<string, Promise<boolean>>();
  private last: Promise<unknown> = Promise.resolve();
  /** Seeds that fail without a planted bug, and the rules that they break. */
  readonly failures = new Map<number, string>();

  passes(seed: number, mutant: Worlds): Promise<boolean> {
    const overrides = overridesOf(mutant);
    const key = `${seed} ${flagsOf(overrides)}`;
    const known = this.passed.get(key);
    if (known !== undefined) return known;
    const passes = this.last.then(() => this.run(seed, overrides));
    this.last = passes;
    this.passed.set(key, passes);
    return passes;
  }

  end(): void {
    this.process.end();
  }

  private async run(seed: number, overrides: Overrides): Promise<boolean> {
    const { failure } = await this.process.run(seed, modeOf(seed), overrides);
    if (failure !== undefined) this.failures.set(seed, failure.rule);
    return failure === undefined;
  }
}
