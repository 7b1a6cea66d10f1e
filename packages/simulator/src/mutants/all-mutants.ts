import { AGENT_MUTANTS } from './agent-mutants.ts';
import { BLIND_MUTANTS } from './blind-mutants.ts';
import { CALLBACK_MUTANTS } from './callback-mutants.ts';
import { CHILD_MUTANTS } from './child-mutants.ts';
import { CLUSTER_MUTANTS } from './cluster-mutants.ts';
import { CORE_MUTANTS } from './core-mutants.ts';
import { ENGINE_MUTANTS } from './engine-mutants.ts';
import { LEASE_MUTANTS } from './lease-mutants.ts';
import { LOG_MUTANTS } from './log-mutants.ts';
import { MATCHING_MUTANTS } from './matching-mutants.ts';
import type { Mutant } from './mutant.ts';
import { OPERATION_MUTANTS } from './operation-mutants.ts';
import { PROJECTION_MUTANTS } from './projection-mutants.ts';
import { RUN_MUTANTS } from './run-mutants.ts';
import { SCHEDULE_MUTANTS } from './schedule-mutants.ts';
import { SDK_MUTANTS } from './sdk-mutants.ts';
import { SERVER_MUTANTS } from './server-mutants.ts';

/** Every planted bug. */
export const MUTANTS: readonly Mutant[] = [
  ...ENGINE_MUTANTS,
  ...LEASE_MUTANTS,
  ...CORE_MUTANTS,
  ...MATCHING_MUTANTS,
  ...SERVER_MUTANTS,
  ...LOG_MUTANTS,
  ...PROJECTION_MUTANTS,
  ...CALLBACK_MUTANTS,
  ...SDK_MUTANTS,
  ...RUN_MUTANTS,
  ...CHILD_MUTANTS,
  ...OPERATION_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...AGENT_MUTANTS,
  ...CLUSTER_MUTANTS,
  ...BLIND_MUTANTS,
];

export function findMutant(name: string): Mutant {
  const mutant = MUTANTS.find((each) => each.name === name);
  if (mutant === undefined) throw new Error(`no planted bug is called '${name}'`);
  return mutant;
}
