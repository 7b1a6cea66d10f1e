import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CgroupV1 } from './cgroup-v1.ts';
import { CgroupV2 } from './cgroup-v2.ts';
import type { GroupUsage, ProcessGroups } from './cgroups.ts';
import { readPids, readText, removeFolder, subfolders } from './group-files.ts';

const ROOT = '/sys/fs/cgroup';

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
  static async find(agent: string, groupDriver: string): Promise<ContainerGroups | undefined> {
    if (groupDriver !== 'cgroupfs' || process.getuid?.() !== 0) return undefined;
    const folder = `/${agent}.containers`;
    const isV2 = (await readText(ROOT, 'cgroup.controllers')) !== undefined;
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

  names(): Promise<string[]> {
    return this.groups.names();
  }

  /** Processes of the container, which is below the group. */
  async pids(name: string): Promise<number[]> {
    const folders = await this.everywhere(name);
    const all = await Promise.all(
      folders.map(async (folder) => {
        const below = await subfolders(folder);
        return Promise.all([folder, ...below.map((each) => join(folder, each))].map(readPids));
      }),
    );
    return [...new Set(all.flat(2))];
  }

  /** Every hierarchy has the group. One that cannot be removed yet is removed at a later start. */
  async remove(name: string): Promise<void> {
    for (const folder of await this.everywhere(name)) {
      for (const each of await subfolders(folder)) {
        await removeFolder(join(folder, each)).catch(() => undefined);
      }
      await removeFolder(folder).catch(() => undefined);
    }
  }

  async dispose(): Promise<void> {
    for (const folder of await this.everywhere('')) {
      await removeFolder(folder).catch(() => undefined);
    }
  }

  /** Folders of a group, in every hierarchy that is there. */
  private async everywhere(name: string): Promise<string[]> {
    const below = join(this.folder, name);
    const hierarchies = await readdir(ROOT).catch(() => []);
    const places = [join(ROOT, below), ...hierarchies.map((each) => join(ROOT, each, below))];
    const there = await Promise.all(places.map((folder) => readText(folder, 'cgroup.procs')));
    return places.filter((_, place) => there[place] !== undefined);
  }
}
