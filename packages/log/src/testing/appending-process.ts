/**
 * A process for tests to kill: opens the log in the given folder and appends batches in a loop. It
 * prints the number of each batch only after the log has acknowledged it, or that the log is full.
 */
import { setTimeout } from 'node:timers/promises';
import { FileLog } from '../file/file-log.ts';

const folder = process.argv[2];
const log = await FileLog.open({ folder, segmentBytes: 16 * 1024 });
const { epoch, tail } = await log.acquire();
process.stdout.write(`holds from ${tail}\n`);

for (let record = tail; ; record += 1) {
  const bytes = Buffer.from(`record ${record} `.repeat(1 + (record % 40)));
  const batch = { epoch, expectedTail: record, nonce: record, recordCount: 1, bytes };
  let outcome = await log.append(batch);
  while (outcome === 'full') {
    process.stdout.write('full\n');
    await setTimeout(20);
    outcome = await log.append(batch);
  }
  if (outcome !== 'ok') throw new Error(`append answered '${outcome}'`);
  process.stdout.write(`${record}\n`);
}
