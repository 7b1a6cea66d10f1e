import { MemoryLog, MemoryLogStore } from '@sluice/log';
import type { ServerDisk, Storage } from './server-host.ts';

export class MemoryDisk implements ServerDisk {
  private readonly store = new MemoryLogStore();

  async open(): Promise<Storage> {
    return { log: new MemoryLog(this.store) };
  }

  killed(): void {}
}
