import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CgroupV1 } from './cgroup-v1.ts';
import { CgroupV2 } from './cgroup-v2.ts';
import type { GroupsUse, GroupUsage, ProcessGroups } from './cgroups.ts';
import { readPids, readText, subfolders, tryRemoveFolder } from './group-files.ts';
import { signalProcess } from './signal-process.ts';

const ROOT = '/sys/fs/cgroup';
const LOOKS_MAX = 200;
const BETWEEN_LOOKS_MS = 10;

/**
 * The control groups above containers. An engine removes the group of a container with it, and with
 * the group what it used. A group above it stays, so an agent makes one for each attempt.
 *
 * An engine that has systemd make its groups takes no other path, and only root may remove groups.
 */
export class ContainerGroups {
  private readonly folder: string;
  private readonly groups: ProcessGroups;

  private constructor(folder: string, groups: ProcessGroups) {
    this.folder = folder;
    this.groups = groups;
  }

  /** Undefined where the engine puts containers wherever it likes. */
  static find(agent: string, groupDriver: string): ContainerGroups | undefined {
    if (groupDriver !== 'cgroupfs' || process.getuid?.() !== 0) return undefined;
    const folder = `/${agent}.containers`;
    const isV2 = readText(ROOT, 'cgroup.controllers') !== undefined;
    return new ContainerGroups(
      folder,
      isV2 ? new CgroupV2(join(ROOT, folder)) : CgroupV1.at(folder),
    );
  }

  /** For the engine: it makes the group. */
  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  usage(name: string): Promise<GroupUsage> {
    return this.groups.open(name).usage();
  }

  /** What all containers use together. Before the first one there is no group to read. */
  use(): GroupsUse {
    return { cpuMs: 0, memoryBytes: 0, ...this.groups.use() };
  }

  names(): Promise<string[]> {
    return this.groups.names();
  }

  /** Processes of the container, which is below the group. */
  pids(name: string): number[] {
    const folders = this.everywhere(name).flatMap((folder) => {
      return [folder, ...subfolders(folder).map((each) => join(folder, each))];
    });
    return [...new Set(folders.flatMap(readPids))];
  }

  /** Ends what is left of a container: an engine that crashed may forget one that still runs. */
  async end(name: string): Promise<void> {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const pids = this.pids(name);
      if (pids.length === 0) return;
      for (const pid of pids) signalProcess(pid, 'SIGKILL');
      await sleep(BETWEEN_LOOKS_MS);
    }
  }

  /** Every hierarchy has the group. One that cannot be removed yet is removed at a later start. */
  async remove(name: string): Promise<void> {
    await this.end(name);
    for (const folder of this.everywhere(name)) {
      for (const each of subfolders(folder)) tryRemoveFolder(join(folder, each));
      tryRemoveFolder(folder);
    }
  }

  dispose(): void {
    for (const folder of this.everywhere('')) tryRemoveFolder(folder);
  }

  /** Folders of a group, in every hierarchy that is there. */
  private everywhere(name: string): string[] {
    const below = join(this.folder, name);
    const places = [join(ROOT, below), ...subfolders(ROOT).map((each) => join(ROOT, each, below))];
    return places.filter((folder) => readText(folder, 'cgroup.procs') !== undefined);
  }
}
