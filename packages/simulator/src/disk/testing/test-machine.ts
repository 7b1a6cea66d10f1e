import type { Disk, DiskFile } from '@sluice/log';
import type { MountedDisk, MountOptions } from '../mounted-disk.ts';
import { SimulatedDisk } from '../simulated-disk.ts';
import { PassingTime } from './passing-time.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A machine with a disk, on which processes run one after the other. */
export class TestMachine {
  readonly time: PassingTime;
  readonly disk: SimulatedDisk;

  constructor(seed: number) {
    this.time = new PassingTime(seed);
    this.disk = new SimulatedDisk({ random: this.time.simulation.random('disk') });
  }

  boot(options: Omit<MountOptions, 'schedule'> = {}): MountedDisk {
    return this.disk.mount({ schedule: this.time.after, ...options });
  }

  /** What a process would find in a file; undefined when there is none. */
  textOf(path: string): string | undefined {
    if (!this.disk.files().includes(path)) return undefined;
    return decoder.decode(this.disk.contentOf(path));
  }
}

/** Opens, writes and closes, without any sync. */
export async function write(disk: Disk, path: string, text: string): Promise<void> {
  const file = await disk.open(path, 'create');
  await writeAt(file, text, 0);
  await file.close();
}

/** Returns the number of bytes written. */
export function writeAt(file: DiskFile, text: string, position: number): Promise<number> {
  const bytes = encoder.encode(text);
  return new Promise((resolve, reject) => {
    file.write(bytes, { offset: 0, length: bytes.length, position }, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });
}

/** All possible outcomes of a story over many seeds, sorted. */
export async function outcomes(
  story: (machine: TestMachine) => Promise<string>,
  seeds = 100,
): Promise<string[]> {
  const found = new Set<string>();
  for (let seed = 0; seed < seeds; seed++) found.add(await story(new TestMachine(seed)));
  return [...found].toSorted();
}
