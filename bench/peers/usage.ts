import { readdir, readFile } from 'node:fs/promises';

/** What processes have used. */
export interface Usage {
  /** User and system time since they started, including children that have ended. */
  readonly cpuMs: number;
  /** Resident memory; memory that processes share counts once. */
  readonly residentBytes: number;
}

/** The state of a zombie: ended, but its parent has not waited for it. */
const ENDED = 'Z';

/** Usage of some processes and all their descendants. */
export async function usageOf(roots: readonly number[]): Promise<Usage> {
  const parents = await parentsOfAll();
  let cpuMs = 0;
  let residentBytes = 0;
  for (const pid of parents.keys()) {
    if (!isBelow(pid, roots, parents)) continue;
    cpuMs += await cpuMsOf(pid);
    residentBytes += await residentBytesOf(pid);
  }
  return { cpuMs, residentBytes };
}

/** A process and all its descendants. */
export async function descendantsOf(root: number): Promise<number[]> {
  const parents = await parentsOfAll();
  return [...parents.keys()].filter((pid) => isBelow(pid, [root], parents));
}

/** Whether any of them still runs. */
export async function areRunning(pids: readonly number[]): Promise<boolean> {
  const states = await Promise.all(pids.map(async (pid) => (await statOf(pid))?.[0] ?? ENDED));
  return states.some((state) => state !== ENDED);
}

function isBelow(
  pid: number,
  roots: readonly number[],
  parents: ReadonlyMap<number, number>,
): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = parents.get(at)) {
    if (roots.includes(at)) return true;
  }
  return false;
}

async function parentsOfAll(): Promise<Map<number, number>> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = await statOf(Number(name));
    if (fields !== undefined) parents.set(Number(name), Number(fields[1]));
  }
  return parents;
}

/** The fields of proc(5) from the third on; a process may end at any time. */
async function statOf(pid: number): Promise<string[] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function cpuMsOf(pid: number): Promise<number> {
  const fields = (await statOf(pid)) ?? [];
  // Fields 14 to 17, in ticks of 10 ms.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

async function residentBytesOf(pid: number): Promise<number> {
  const maps = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(maps)?.[1] ?? 0) * 1024;
}
