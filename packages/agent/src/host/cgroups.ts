/** Limits of one attempt. An absent one is not limited. */
export interface GroupLimits {
  readonly cpu?: number;
  readonly memoryMb?: number;
  readonly pids: number;
}

export interface GroupUsage {
  readonly cpuMs?: number;
  readonly memoryPeakBytes?: number;
  readonly readBytes?: number;
  readonly writtenBytes?: number;
}

/** What all groups use together; a part that cannot be measured is absent. */
export interface GroupsUse {
  /** Processor time since the groups were made. */
  readonly cpuMs?: number;
  readonly memoryBytes?: number;
}

/** The processes of one attempt. */
export interface ProcessGroup {
  /** A process enters the group when it writes its pid into each of these files. */
  readonly joinFiles: readonly string[];
  /** Lines for the shell that starts the program, for limits that no group enforces. */
  readonly limitLines: readonly string[];
  usage(): Promise<GroupUsage>;
  wasOutOfMemory(): Promise<boolean>;
  /** Pids of its processes. */
  pids(): Promise<number[]>;
  /** After this no process of the group can start another. */
  close(): Promise<void>;
  /** Removes the group, which has no processes left. */
  remove(): Promise<void>;
}

/** Makes groups; what it can enforce depends on the host. */
export interface ProcessGroups {
  readonly kind: 'cgroup v1' | 'cgroup v2' | 'rlimits';
  /** What is not enforced here; empty when everything is. */
  readonly losses: readonly string[];
  make(name: string, limits: GroupLimits): Promise<ProcessGroup>;
  use(): GroupsUse;
  /** Groups that an earlier agent left. */
  names(): Promise<string[]>;
  open(name: string): ProcessGroup;
  /** Removes what it made for the agent itself, when no group is left. */
  dispose(): Promise<void>;
}
