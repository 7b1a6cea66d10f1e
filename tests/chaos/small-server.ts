/**
 * The real server with a log that is folded and trimmed after a few tasks.
 *
 *   node small-server.ts DATA_FOLDER SNAPSHOT_EVERY_BYTES [FINISHED_TASKS_MAX [PORT]]
 */
import { Server } from '@sluice/server';

/** Segments must be small enough that a fold can free some. */
const SEGMENTS_PER_SNAPSHOT = 4;

/** The log is trimmed only after the projection has written its open records. */
const OPEN_RECORD_MS_MAX = 100;

const [dataFolder, everyBytes, finishedTasksMax = '1000000', port = '0'] = process.argv.slice(2);
const server = await Server.start({
  host: '127.0.0.1',
  port: Number(port),
  dataFolder,
  version: '0.1.0',
  snapshotEveryBytes: Number(everyBytes),
  segmentBytes: Math.ceil(Number(everyBytes) / SEGMENTS_PER_SNAPSHOT),
  openRecordMsMax: OPEN_RECORD_MS_MAX,
  limits: { finishedTasksMax: Number(finishedTasksMax) },
  onFatal: (cause) => {
    throw cause;
  },
});
process.stdout.write(`The small server is ready at ${server.url}\n`);
