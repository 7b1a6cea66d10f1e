/** The thread of one fold: folds, says what became of it, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { FileSnapshots, readLogFolder } from '@sluice/log';
import { foldSnapshot } from './fold.ts';
import type { FoldThreadData } from './start-fold-thread.ts';

const { logFolder, snapshotFolder, upTo, ...partition } = workerData as FoldThreadData;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const outcome = await foldSnapshot({
  partition: {
    ...partition,
    utf8: {
      encode: (text) => encoder.encode(text),
      decode: (bytes) => decoder.decode(bytes),
    },
  },
  snapshots: await FileSnapshots.open(snapshotFolder),
  readLog: (range) => readLogFolder(logFolder, range),
  upTo,
});
parentPort?.postMessage(outcome);
