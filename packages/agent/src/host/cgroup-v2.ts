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
/** That of a group that states none. */
const WEIGHT_OF_A_CORE = 100;
const WEIGHT_MAX = 10_000;
const MIB = 2 ** 20;
const CONTROLLERS = ['cpu', 'memory', 'pids'];

/** Control groups of the second version: one folder for everything. */
export class CgroupV2 implements ProcessGroups {
  readonly kind = 'cgroup v2';
  readonly losses = [];
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Undefined when this host has no such groups, or this user may not make them. */
  static async find(agent: string, root = ROOT): Promise<CgroupV2 | undefined> {
    const own = (await readFile('/proc/self/cgroup', 'utf8').catch(() => '')).split('\n');
    const path = own.find((line) => line.startsWith('0::'))?.slice('0::'.length) ?? '/';
    const folder = join(root, path);
    const has = (readText(folder, 'cgroup.controllers') ?? '').split(/\s+/);
    if (!CONTROLLERS.every((controller) => has.includes(controller))) return undefined;
    try {
      // A group with processes cannot hand its controllers on, so the agent moves into its own.
      makeFolder(join(folder, `${agent}.self`));
      write(join(folder, `${agent}.self`), 'cgroup.procs', process.pid);
      const all = has.includes('io') ? [...CONTROLLERS, 'io'] : CONTROLLERS;
      const words = all.map((controller) => `+${controller}`).join(' ');
      write(folder, 'cgroup.subtree_control', words);
      makeFolder(join(folder, agent));
      write(join(folder, agent), 'cgroup.subtree_control', words);
    } catch {
      return undefined;
    }
    return new CgroupV2(join(folder, agent));
  }

  async make(name: string, { cpu, memoryMb, pids }: GroupLimits): Promise<ProcessGroup> {
    const folder = join(this.folder, name);
    makeFolder(folder);
    if (cpu !== undefined && cpu > 0) {
      const quota = Math.max(1000, Math.round(cpu * PERIOD_US));
      write(folder, 'cpu.max', `${quota} ${PERIOD_US}`);
      const weight = Math.round(cpu * WEIGHT_OF_A_CORE);
      write(folder, 'cpu.weight', Math.min(WEIGHT_MAX, Math.max(1, weight)));
    }
    if (memoryMb !== undefined && memoryMb > 0) {
      write(folder, 'memory.max', Math.ceil(memoryMb * MIB));
      tryWrite(folder, 'memory.swap.max', 0);
    }
    write(folder, 'pids.max', pids);
    return this.open(name);
  }

  use(): GroupsUse {
    const cpuUs = readWord(this.folder, 'cpu.stat', 'usage_usec');
    const bytes = readNumber(this.folder, 'memory.current');
    // Files that nobody reads at the moment are given up as soon as memory is needed.
    const cached = readWord(this.folder, 'memory.stat', 'inactive_file') ?? 0;
    return {
      ...(cpuUs === undefined ? {} : { cpuMs: cpuUs / 1000 }),
      ...(bytes === undefined ? {} : { memoryBytes: Math.max(0, bytes - cached) }),
    };
  }

  async names(): Promise<string[]> {
    return subfolders(this.folder);
  }

  open(name: string): ProcessGroup {
    return new GroupV2(join(this.folder, name));
  }

  async dispose(): Promise<void> {
    tryRemoveFolder(this.folder);
  }
}

class GroupV2 implements ProcessGroup {
  readonly joinFiles: readonly string[];
  readonly limitLines = [];
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    this.joinFiles = [join(folder, 'cgroup.procs')];
  }

  async usage(): Promise<GroupUsage> {
    const cpuUs = readWord(this.folder, 'cpu.stat', 'usage_usec');
    const peak = readNumber(this.folder, 'memory.peak');
    const io = readText(this.folder, 'io.stat') ?? '';
    const sum = (word: string) =>
      [...io.matchAll(new RegExp(`\\b${word}=(\\d+)`, 'g'))].reduce(
        (total, [, bytes]) => total + Number(bytes),
        0,
      );
    return {
      ...(cpuUs === undefined ? {} : { cpuMs: Math.round(cpuUs / 1000) }),
      ...(peak === undefined ? {} : { memoryPeakBytes: peak }),
      ...(io === '' ? {} : { readBytes: sum('rbytes'), writtenBytes: sum('wbytes') }),
    };
  }

  async wasOutOfMemory(): Promise<boolean> {
    return (readWord(this.folder, 'memory.events', 'oom_kill') ?? 0) > 0;
  }

  async pids(): Promise<number[]> {
    return readPids(this.folder);
  }

  async close(): Promise<void> {
    tryWrite(this.folder, 'pids.max', 0);
  }

  async remove(): Promise<void> {
    removeFolder(this.folder);
  }
}
