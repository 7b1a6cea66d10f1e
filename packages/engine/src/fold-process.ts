/** The process of one fold: folds, reports the outcome, and ends. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { FileSnapshots, readLogFolder, type SnapshotStore } from '@sluice/log';
import { type FoldOutcome, foldSnapshot } from './fold.ts';
import type { FoldProcessOrder, FoldSource } from './start-fold-process.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// A fold without its server is useless, and the next server on these folders folds there, too.
process.once('disconnect', () => process.exit(1));
dieFirst();

const [order] = await once(process, 'message');
const outcome = await fold(order as FoldProcessOrder);
process.send?.(outcome, () => process.exit());

/**
 * When the kernel runs out of memory, it should kill this process first: the next fold makes up for
 * it.
 */
function dieFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // The file does not exist on every system; then the process has no preference.
  }
}

async function fold(order: FoldProcessOrder): Promise<FoldOutcome> {
  const { source, serverPid, upTo, ...partition } = order;
  const utf8 = {
    encode: (text: string) => encoder.encode(text),
    decode: (bytes: Uint8Array) => decoder.decode(bytes),
  };
  try {
    const { snapshots, readLog } = await openSource(source);
    return await foldSnapshot({
      partition: { ...partition, utf8 },
      snapshots: savedFor(serverPid, snapshots),
      readLog,
      upTo,
    });
  } catch (cause) {
    return { kind: 'failed', reason: String(cause) };
  }
}

async function openSource(source: FoldProcessOrder['source']): Promise<FoldSource> {
  if ('module' in source) {
    const { openFoldSource } = await import(source.module);
    return openFoldSource(source.options);
  }
  const { logFolder, snapshotFolder } = source;
  return {
    snapshots: await FileSnapshots.open(snapshotFolder),
    readLog: (range) => readLogFolder(logFolder, range),
  };
}

/**
 * Contents are written in one turn, in which the disconnect event cannot arrive, so the parent is
 * checked explicitly.
 */
function savedFor(serverPid: number, files: SnapshotStore): SnapshotStore {
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
