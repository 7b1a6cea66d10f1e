import type { BoundedLog, LogBatch, LogHold, PartitionLog } from '../contract/partition-log.ts';

/**
 * One empty log and the ways to reach it. An engine that stores several batches together is opened
 * so that each of `LONELY_TEXTS` is stored alone.
 */
export interface LogFixture {
  readonly log: BoundedLog;
  /** Competes with `log` for the hold. The same handle in an engine that admits only one. */
  readonly rival: BoundedLog;
  /** Closes every handle and opens the same log again. */
  reopen(): Promise<BoundedLog>;
  /** From here on the engine gets no more room than it has. */
  fillDisk(): void | Promise<void>;
  /** Gives the engine room again and advances time until it notices. */
  freeDisk(): void | Promise<void>;
  dispose(): Promise<void>;
}

/** The epoch and place of an append. */
export type AppendPlace = Pick<LogHold, 'epoch' | 'tail'>;

/** A batch from a read, copied so that it outlives the callback. */
export interface ReadBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly epoch: number;
  readonly text: string;
}

/** Six texts of 600 bytes. */
export const LONELY_TEXTS = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(600));

let lastNonce = 0;

/** A batch that the log would accept from the holder, except for the given fields. */
export function batchAfter(hold: AppendPlace, fields: Partial<LogBatch> = {}): LogBatch {
  lastNonce += 1;
  return {
    epoch: hold.epoch,
    expectedTail: hold.tail,
    nonce: lastNonce,
    recordCount: 1,
    bytes: Buffer.from(`batch after ${hold.tail}`),
    ...fields,
  };
}

/** Appends one batch per text, one record each, and returns the new end of the log. */
export async function appendTexts(
  log: PartitionLog,
  hold: AppendPlace,
  texts: readonly string[],
): Promise<AppendPlace> {
  let tail = hold.tail;
  for (const text of texts) {
    const batch = batchAfter({ epoch: hold.epoch, tail }, { bytes: Buffer.from(text) });
    const outcome = await log.append(batch);
    if (outcome !== 'ok') throw new Error(`append answered '${outcome}'`);
    tail += 1;
  }
  return { epoch: hold.epoch, tail };
}

export async function readBatches(log: PartitionLog, from = 0): Promise<ReadBatch[]> {
  const batches: ReadBatch[] = [];
  await log.read(from, ({ firstRecord, recordCount, epoch, bytes }) => {
    batches.push({ firstRecord, recordCount, epoch, text: Buffer.from(bytes).toString() });
  });
  return batches;
}

export async function readTexts(log: PartitionLog, from = 0): Promise<string[]> {
  return (await readBatches(log, from)).map((batch) => batch.text);
}
