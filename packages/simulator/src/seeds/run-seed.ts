import { ClusterWorld } from '../cluster/cluster-world.ts';
import { clusterPlanOf } from '../cluster/plan/cluster-plan.ts';
import { type Simulation, ViolationError } from '../kernel/simulation.ts';
import type { Mode } from '../plan/mode.ts';
import { type Overrides, withOverrides } from '../plan/overrides.ts';
import { drawPlan } from '../plan/world-plan.ts';
import { World } from './world.ts';

export interface SeedOrder {
  readonly seed: number;
  readonly mode: Mode;
  readonly overrides?: Overrides;
  /** Gets every line of the trace. */
  readonly print?: (line: string) => void;
}

export interface SeedFailure {
  /** The number of the rule, or the name of the error when no checker found it. */
  readonly rule: string;
  readonly message: string;
  readonly stack: string;
  /** When it was noticed. */
  readonly at: number;
  readonly lastLines: readonly string[];
}

export interface SeedResult {
  readonly seed: number;
  readonly failure?: SeedFailure;
  readonly traceHash: string;
  readonly simulatedMs: number;
  readonly steps: number;
  readonly situations: readonly (readonly [string, number])[];
}

/**
 * Runs one world. The same order gives the same result.
 *
 * Most errors are answers to requests, and their stack traces cost more than the answers. So a
 * world first runs without stack traces. If it fails, it runs again with them for the report.
 */
export async function runSeed(order: SeedOrder): Promise<SeedResult> {
  if (order.print !== undefined) return live(order);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const result = await live(order);
  Error.stackTraceLimit = stackTraceLimit;
  if (result.failure === undefined) return result;
  const again = await live(order);
  return again.failure === undefined ? result : again;
}

async function live(order: SeedOrder): Promise<SeedResult> {
  const { seed, mode, overrides = {}, print } = order;
  const world = makeWorld(seed, overrides, print);
  let failure: SeedFailure | undefined;
  // A real server would end here. Also, the caller of a checker may swallow the error.
  const rejected = (cause: Error) => world.simulation.fail(cause);
  process.on('unhandledRejection', rejected);
  try {
    await world.run(mode);
  } catch (cause) {
    failure = describe(cause as Error, world);
  } finally {
    process.off('unhandledRejection', rejected);
  }
  const { trace, now, steps } = world.simulation;
  return {
    seed,
    ...(failure === undefined ? {} : { failure }),
    traceHash: trace.hash,
    simulatedMs: now,
    steps,
    situations: [...world.situations.counts],
  };
}

function makeWorld(
  seed: number,
  overrides: Overrides,
  print: SeedOrder['print'],
): World | ClusterWorld {
  if (overrides.cluster === true) return new ClusterWorld(clusterPlanOf(seed, overrides), print);
  return new World(withOverrides(drawPlan(seed), overrides), print);
}

function describe(cause: Error, { simulation }: { readonly simulation: Simulation }): SeedFailure {
  return {
    rule: cause instanceof ViolationError ? cause.rule : cause.name,
    message: cause.message,
    stack: cause.stack ?? cause.message,
    at: simulation.now,
    lastLines: simulation.trace.last(50),
  };
}
