/**
 * The real server with two additions. SIGUSR2 arms it: it dies right after its next append is
 * durable, and prints the hash of the state after this append. Bugs that the environment names are
 * planted into it while it loads.
 *
 *   node storm-server.ts DATA_FOLDER
 */
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { Partition as LivePartition } from '@sluice/core';
import type { BoundedLog } from '@sluice/log';
import { type Mutant, plant, urlOf } from '../../packages/simulator/src/mutants/mutant.ts';

/** Small, so that a storm makes snapshots and trims the log. */
const SNAPSHOT_EVERY_BYTES = 128 * 1024;

const HASH_EVERY = 50;

const mutants = JSON.parse(process.env.SLUICE_STORM_MUTANTS ?? '[]') as Mutant[];
const targets = new Map(mutants.map((mutant) => [urlOf(mutant).href, mutant]));
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const mutant = targets.get(url);
    if (mutant === undefined || !targets.delete(url)) return loaded;
    return { ...loaded, source: plant(String(loaded.source), mutant) };
  },
});

let isArmed = false;
let partition: LivePartition | undefined;

process.on('SIGUSR2', () => {
  isArmed = true;
  process.stdout.write('armed\n');
});

/** A batch is appended in the turn that completed it, so the state is that of its last record. */
function dieWithHash(log: BoundedLog): BoundedLog {
  const append = log.append.bind(log);
  log.append = async (batch) => {
    if (!isArmed) return append(batch);
    const tail = batch.expectedTail + batch.recordCount;
    const hash = partition?.hashState();
    await append(batch);
    writeSync(1, `died at record ${tail} with state hash ${hash}\n`);
    process.kill(process.pid, 'SIGKILL');
    return 'unknown';
  };
  return log;
}

// Must be loaded after the hooks are in place.
const { Partition } = await import('@sluice/core');
const { Server } = await import('@sluice/server');
const server = await Server.start({
  host: '127.0.0.1',
  port: 0,
  dataFolder: process.argv[2],
  version: '0.1.0',
  snapshotEveryBytes: SNAPSHOT_EVERY_BYTES,
  segmentBytes: SNAPSHOT_EVERY_BYTES / 4,
  openRecordMsMax: 100,
  makePartition: (options) => {
    partition = new Partition({ ...options, hashEvery: HASH_EVERY });
    return partition;
  },
  wrapLog: dieWithHash,
  onFatal: (cause) => {
    throw cause;
  },
});
if (targets.size > 0) throw new Error(`nothing loads ${[...targets.keys()]}`);
process.stdout.write(`The storm server is ready at ${server.url}\n`);
