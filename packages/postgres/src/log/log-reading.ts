import {
  checkReadFrom,
  LogCorruptError,
  LogTrimmedError,
  type OnBatch,
  STOP_READING,
  type StoredBatch,
} from '@sluice/log';
import { failureOf } from '../session/failures.ts';
import type { SessionPool } from '../session/session-pool.ts';
import { batchChecksum } from './batch-checksum.ts';
import { type LogPlace, readPlace } from './log-place.ts';
import type { LogStatements } from './log-statements.ts';

/** One read, from a record to the tail that the log had at its beginning. */
export class LogReading {
  readonly #pool: SessionPool;
  readonly #statements: LogStatements;
  readonly #onBatch: OnBatch;
  /** The record to continue with. Inside a batch only before the first one. */
  #next: number;
  #isFirst = true;
  #isStopped = false;
  /** What `onBatch` threw; no connection is to blame for it. */
  #thrown: { readonly cause: unknown } | undefined;

  constructor(
    pool: SessionPool,
    statements: LogStatements,
    { from, onBatch }: { readonly from: number; readonly onBatch: OnBatch },
  ) {
    this.#pool = pool;
    this.#statements = statements;
    this.#next = from;
    this.#onBatch = onBatch;
  }

  async run(): Promise<void> {
    const place = await this.#place();
    checkReadFrom(this.#next, place);
    for (const [index, { number }] of place.segments.entries()) {
      const end = place.segments.at(index + 1)?.firstRecord ?? place.tail;
      while (this.#next < Math.min(end, place.tail) && !this.#isStopped) {
        await this.#readSome(number);
        if (this.#thrown !== undefined) throw this.#thrown.cause;
      }
    }
  }

  /** Passes on about four megabytes of batches. */
  async #readSome(segment: number): Promise<void> {
    const before = this.#next;
    try {
      await this.#pool.run((session) =>
        session.copyOut(this.#statements.read(segment, this.#next), (fields) => {
          if (!this.#isStopped) this.#take(segment, fields);
        }),
      );
    } catch (cause) {
      if (failureOf(cause) !== 'missing') throw cause;
      const { first } = await this.#place();
      if (first > this.#next) throw new LogTrimmedError(this.#next, first);
      throw this.#corrupt(segment, 'the table is gone');
    }
    if (this.#next === before && !this.#isStopped) {
      throw this.#corrupt(segment, 'batches are missing');
    }
  }

  #take(segment: number, fields: readonly Buffer[]): void {
    const [firstRecord, recordCount, epoch, nonce, crc] = fields.map(numberOf);
    const batch = { firstRecord, recordCount, epoch, bytes: fields[5] };
    if (batchChecksum({ ...batch, nonce }) !== crc) {
      throw this.#corrupt(segment, 'the checksum does not match');
    }
    const follows = this.#isFirst
      ? firstRecord <= this.#next && this.#next < firstRecord + recordCount
      : firstRecord === this.#next;
    if (!follows) throw this.#corrupt(segment, `record ${firstRecord} follows`);
    this.#isFirst = false;
    this.#next = firstRecord + recordCount;
    this.#pass(batch);
  }

  #pass(batch: StoredBatch): void {
    try {
      this.#isStopped = this.#onBatch(batch) === STOP_READING;
    } catch (cause) {
      this.#isStopped = true;
      this.#thrown = { cause };
    }
  }

  #place(): Promise<LogPlace> {
    return this.#pool.run((session) => readPlace(session, this.#statements));
  }

  #corrupt(segment: number, finding: string): LogCorruptError {
    const file = `${this.#pool.address.shown}, ${this.#statements.table(segment)}`;
    return new LogCorruptError({ file, offset: 0, record: this.#next }, finding, 'database');
  }
}

function numberOf(field: Buffer): number {
  return field.length === 8 ? Number(field.readBigInt64BE()) : Number.NaN;
}
