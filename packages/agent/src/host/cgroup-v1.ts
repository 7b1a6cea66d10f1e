import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GroupLimits, GroupsUse, GroupUsage, ProcessGroup, ProcessGroups } from './cgroups.ts';
import {
  makeFolder,
  readNumber,
  readPids,
  readText,
  readWord,
  removeFolder,
  subfolders,
  tryRemoveFolder,
  tryWrite,
  write,
} from './group-files.ts';

const ROOT = '/sys/fs/cgroup';
const PERIOD_US = 100_000;
const MIB = 2 ** 20;
const NS_PER_MS = 1e6;

/** The hierarchies that are used; `pids` lists the processes of a group. */
const CONTROLLERS = ['cpu', 'cpuacct', 'memory', 'pids', 'blkio'] as const;
type Controller = (typeof CONTROLLERS)[number];

const NEEDED: readonly Controller[] = ['cpu', 'cpuacct', 'memory', 'pids'];

/** Control groups of the first version: one folder per controller. */
export class CgroupV1 implements ProcessGroups {
  readonly kind = 'cgroup v1';
  readonly losses = [];
  private readonly folders: Readonly<Partial<Record<Controller, string>>>;

  private constructor(folders: Readonly<Partial<Record<Controller, string>>>) {
    this.folders = folders;
  }

  /** Undefined when this host has no such groups, or this user may not make them. */
  static async find(agent: string): Promise<CgroupV1 | undefined> {
    const own = (await readFile('/proc/self/cgroup', 'utf8').catch(() => '')).split('\n');
    const folders: Partial<Record<Controller, string>> = {};
    for (const controller of CONTROLLERS) {
      const line = own.find((each) => (each.split(':')[1] ?? '').split(',').includes(controller));
      if (line === undefined) continue;
      const path = line.split(':').slice(2).join(':');
      const folder = join(ROOT, line.split(':')[1] ?? '', path, agent);
      try {
        makeFolder(folder);
        folders[controller] = folder;
      } catch {
        // This user may not make it.
      }
    }
    return NEEDED.every((each) => folders[each] !== undefined) ? new CgroupV1(folders) : undefined;
  }

  /** Groups at the same place in every hierarchy. They may not be there yet. */
  static at(path: string): CgroupV1 {
    const folders = CONTROLLERS.map((controller) => [controller, join(ROOT, controller, path)]);
    return new CgroupV1(Object.fromEntries(folders) as Partial<Record<Controller, string>>);
  }

  async make(name: string, limits: GroupLimits): Promise<ProcessGroup> {
    const at = (controller: Controller) => join(this.folders[controller] ?? '', name);
    for (const controller of CONTROLLERS) {
      if (this.folders[controller] !== undefined) makeFolder(at(controller));
    }
    const { cpu, memoryMb, pids } = limits;
    if (cpu !== undefined && cpu > 0) {
      write(at('cpu'), 'cpu.cfs_period_us', PERIOD_US);
      write(at('cpu'), 'cpu.cfs_quota_us', Math.max(1000, Math.round(cpu * PERIOD_US)));
      write(at('cpu'), 'cpu.shares', Math.max(2, Math.round(cpu * 1024)));
    }
    if (memoryMb !== undefined && memoryMb > 0) {
      write(at('memory'), 'memory.limit_in_bytes', Math.ceil(memoryMb * MIB));
      // Swap would let a program go on far beyond its limit. Not every kernel counts it.
      tryWrite(at('memory'), 'memory.memsw.limit_in_bytes', Math.ceil(memoryMb * MIB));
    }
    write(at('pids'), 'pids.max', pids);
    return this.open(name);
  }

  use(): GroupsUse {
    const { cpuacct = '', memory = '' } = this.folders;
    const cpuNs = readNumber(cpuacct, 'cpuacct.usage');
    const bytes = readNumber(memory, 'memory.usage_in_bytes');
    // Files that nobody reads at the moment are given up as soon as memory is needed.
    const cached = readWord(memory, 'memory.stat', 'total_inactive_file') ?? 0;
    return {
      ...(cpuNs === undefined ? {} : { cpuMs: cpuNs / NS_PER_MS }),
      ...(bytes === undefined ? {} : { memoryBytes: Math.max(0, bytes - cached) }),
    };
  }

  async names(): Promise<string[]> {
    return subfolders(this.folders.pids ?? '');
  }

  open(name: string): ProcessGroup {
    const folders = Object.fromEntries(
      Object.entries(this.folders).map(([controller, folder]) => [controller, join(folder, name)]),
    ) as Partial<Record<Controller, string>>;
    return new GroupV1(folders);
  }

  async dispose(): Promise<void> {
    for (const folder of Object.values(this.folders)) {
      tryRemoveFolder(folder);
    }
  }
}

class GroupV1 implements ProcessGroup {
  readonly joinFiles: readonly string[];
  readonly limitLines = [];
  private readonly folders: Readonly<Partial<Record<Controller, string>>>;

  constructor(folders: Readonly<Partial<Record<Controller, string>>>) {
    this.folders = folders;
    this.joinFiles = Object.values(folders).map((folder) => join(folder, 'cgroup.procs'));
  }

  async usage(): Promise<GroupUsage> {
    const cpuNs = readNumber(this.at('cpuacct'), 'cpuacct.usage');
    const peak = readNumber(this.at('memory'), 'memory.max_usage_in_bytes');
    const io = this.diskBytes();
    return {
      ...(cpuNs === undefined ? {} : { cpuMs: Math.round(cpuNs / NS_PER_MS) }),
      ...(peak === undefined ? {} : { memoryPeakBytes: peak }),
      ...io,
    };
  }

  async wasOutOfMemory(): Promise<boolean> {
    return (readWord(this.at('memory'), 'memory.oom_control', 'oom_kill') ?? 0) > 0;
  }

  async pids(): Promise<number[]> {
    return readPids(this.at('pids'));
  }

  async close(): Promise<void> {
    tryWrite(this.at('pids'), 'pids.max', 0);
  }

  async remove(): Promise<void> {
    for (const folder of Object.values(this.folders)) removeFolder(folder);
  }

  /** Only what reached a disk counts: what stayed in memory does not. */
  private diskBytes(): GroupUsage {
    if (this.folders.blkio === undefined) return {};
    const text = readText(this.folders.blkio, 'blkio.throttle.io_service_bytes');
    // Kernels of today count only where a disk is throttled, and have no line of a disk elsewhere.
    if (text === undefined || !/^\d+:\d+ /m.test(text)) return {};
    const sum = (word: string) =>
      text
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([, kind]) => kind === word)
        .reduce((total, [, , bytes]) => total + Number(bytes), 0);
    return { readBytes: sum('Read'), writtenBytes: sum('Write') };
  }

  private at(controller: Controller): string {
    return this.folders[controller] ?? '';
  }
}
