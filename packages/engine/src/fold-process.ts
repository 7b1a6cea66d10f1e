/** The process of one fold: folds, says what became of it, and ends. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { FileSnapshots, readLogFolder, type SnapshotStore } from '@sluice/log';
import { type FoldOutcome, foldSnapshot } from './fold.ts';
import type { FoldProcessOrder } from './start-fold-process.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// A fold without its server is of no use, and whoever starts next on the folders folds there, too.
process.once('disconnect', () => process.exit(1));
dieFirst();

const [order] = await once(process, 'message');
const outcome = await fold(order as FoldProcessOrder);
process.send?.(outcome, () => process.exit());

/** A kernel without memory ends whom it likes: better this one, which the next makes up for. */
function dieFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // There is no such file everywhere; then it takes its chance.
  }
}

async function fold(order: FoldProcessOrder): Promise<FoldOutcome> {
  const { logFolder, snapshotFolder, serverPid, upTo, ...partition } = order;
  const utf8 = {
    encode: (text: string) => encoder.encode(text),
    decode: (bytes: Uint8Array) => decoder.decode(bytes),
  };
  try {
    return await foldSnapshot({
      partition: { ...partition, utf8 },
      snapshots: savedFor(serverPid, await FileSnapshots.open(snapshotFolder)),
      readLog: (range) => readLogFolder(logFolder, range),
      upTo,
    });
  } catch (cause) {
    return { kind: 'failed', reason: String(cause) };
  }
}

/** Contents are written in one turn, in which nobody hears that the server is gone: it is asked. */
function savedFor(serverPid: number, files: FileSnapshots): SnapshotStore {
  return {
    positions: () => files.positions(),
    open: (position) => files.open(position),
    save: (header, content) =>
      files.save(header, (write) => {
        content(write);
        if (process.ppid !== serverPid) throw new Error('the server ended before the fold');
      }),
  };
}
