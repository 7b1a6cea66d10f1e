import { isBlobReference, type ReadonlyState, type Slot } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { blobsInText, isExecType } from '../base/exec-envelope.ts';
import { scanStart, scanTasks } from '../base/task-scan.ts';
import { blobName, type StoredBlob } from './blob-files.ts';
import type { BlobStore } from './blob-store.ts';

const SWEEP_EVERY_MS = 3_600_000;

export interface BlobSweepParts {
  readonly blobs: BlobStore;
  readonly engine: Pick<Engine, 'read'>;
  /** Returns those names that tasks in the projection use. */
  readonly projection: { named(names: readonly string[]): Promise<Iterable<string>> };
  /** Called when a sweep fails; the next sweep looks again. */
  readonly onFailed: (cause: Error) => void;
}

/**
 * Removes blobs that no task has named for a day.
 *
 * A task is in memory, in the rows of the projection, or both: it leaves memory when its row is
 * written. So memory is scanned first, and a task that moves to the rows meanwhile is found there.
 * A task that arrives in memory meanwhile has just used its blobs (blobs.named-exists). Each sweep
 * marks the named blobs as used, so the day begins when the last name is gone.
 */
export class BlobSweep {
  private readonly parts: BlobSweepParts;
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private isClosed = false;

  constructor(parts: BlobSweepParts) {
    this.parts = parts;
  }

  /** Sweeps from time to time in the background. */
  start(): void {
    const sweepBeside = (): void => {
      this.sweeping ??= this.sweep()
        .catch((cause: Error) => {
          // A server that stops does not report a failed sweep.
          if (!this.isClosed) this.parts.onFailed(cause);
        })
        .finally(() => {
          this.sweeping = undefined;
        });
    };
    sweepBeside();
    this.timer = setInterval(sweepBeside, SWEEP_EVERY_MS);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    await this.sweeping;
  }

  async sweep(): Promise<void> {
    const { blobs } = this.parts;
    const inMemory = await this.namedInMemory();
    const totals = { count: 0, bytes: 0 };
    const bytesByNamespace = new Map<string, number>();
    for await (const found of blobs.list()) {
      for (const { namespace, bytes } of await this.keepNamed(found, inMemory)) {
        totals.count += 1;
        totals.bytes += bytes;
        bytesByNamespace.set(namespace, (bytesByNamespace.get(namespace) ?? 0) + bytes);
      }
      if (this.isClosed) return;
    }
    blobs.counted(totals, bytesByNamespace);
  }

  /** Returns the blobs that are left. */
  private async keepNamed(
    found: readonly StoredBlob[],
    inMemory: ReadonlySet<string>,
  ): Promise<StoredBlob[]> {
    const { blobs, projection } = this.parts;
    const others = found.map(blobName).filter((name) => !inMemory.has(name));
    const inRows = new Set(others.length === 0 ? [] : await projection.named(others));
    const left: StoredBlob[] = [];
    for (const blob of found) {
      const isNamed = inMemory.has(blobName(blob)) || inRows.has(blobName(blob));
      if (isNamed) await blobs.use(blob);
      if (isNamed || !(await blobs.remove(blob))) left.push(blob);
    }
    return left;
  }

  private async namedInMemory(): Promise<Set<string>> {
    const { engine } = this.parts;
    const named = new Set<string>();
    let place = await engine.read(scanStart);
    for (;;) {
      const next = await engine.read((state) => {
        return scanTasks(state, place, (slot) => {
          for (const name of namesOf(state, slot)) named.add(name);
          return false;
        });
      });
      if (next === undefined) return named;
      place = next;
    }
  }
}

function namesOf(state: ReadonlyState, slot: Slot): string[] {
  const { tasks, payloads, queues } = state;
  const { namespace } = queues[tasks.queue[slot]];
  const type = state.typeOf(slot);
  const look = (reference: number, length: number): string[] => {
    if (length === 0) return [];
    const bytes = payloads.bytesOf(reference);
    const start = payloads.startOf(reference);
    const text = () => Buffer.from(bytes.subarray(start, start + length)).toString('latin1');
    // The name follows the mark.
    if (isBlobReference(bytes, start, length)) return [text().slice(1)];
    return isExecType(type) ? blobsInText(type, text()) : [];
  };
  const hashes = [
    ...look(tasks.input[slot], tasks.inputLength[slot]),
    ...look(tasks.result[slot], tasks.resultLength[slot]),
  ];
  return hashes.map((sha256) => blobName({ namespace, sha256 }));
}
