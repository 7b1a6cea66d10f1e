import { CgroupV1 } from './cgroup-v1.ts';
import { CgroupV2 } from './cgroup-v2.ts';
import type { ProcessGroups } from './cgroups.ts';
import { Rlimits } from './rlimits.ts';

/** The best kind of limits that this host allows. `agent` names the folder of this agent. */
export async function findGroups(agent: string): Promise<ProcessGroups> {
  return (await CgroupV2.find(agent)) ?? (await CgroupV1.find(agent)) ?? new Rlimits();
}
