import { randomUUID } from 'node:crypto';
import {
  type AppendOutcome,
  type BoundedLog,
  checkBatch,
  type LogBatch,
  type LogExtent,
  LogFailedError,
  LogFullError,
  type LogHold,
  type LogTrim,
  type OnBatch,
  overlappingAppend,
  type TrimOutcome,
} from '@sluice/log';
import { checkSchema, FIRST_PARTITION } from '../schema/store-schema.ts';
import { checkSettings } from '../schema/store-settings.ts';
import { TableNames } from '../schema/table-names.ts';
import { refuseUnfinishedImport } from '../schema/unfinished-import.ts';
import { failureOf } from '../session/failures.ts';
import type { Session } from '../session/session.ts';
import { SessionPool } from '../session/session-pool.ts';
import type { StoreAddress } from '../session/store-address.ts';
import { batchChecksum } from './batch-checksum.ts';
import { BatchSends } from './batch-sends.ts';
import { type LogPlace, readEnd, readPlace } from './log-place.ts';
import { LogReading } from './log-reading.ts';
import { LogStatements } from './log-statements.ts';
import { trimLog } from './log-trimming.ts';
import { RoomProbe } from './room-probe.ts';
import { SegmentSupply } from './segment-supply.ts';

export interface PostgresLogOptions {
  readonly address: StoreAddress;
  /**
   * The epoch of a hold that this process has claimed. Without it `acquire` claims the partition,
   * whoever holds it.
   */
  readonly epoch?: number;
  /** From this size on, the log goes on in another table. */
  readonly segmentBytes?: number;
  /** After this time without an answer the outcome of an append is unknown. */
  readonly silenceMs?: number;
  /** Time between two tries to find room. */
  readonly probeMs?: number;
  /** Also opens a store whose import has not ended. */
  readonly isImporting?: boolean;
}

const DEFAULTS = { segmentBytes: 256 * 2 ** 20, silenceMs: 5_000, probeMs: 1_000 };

/** Where the next batch goes. */
interface WritePlace {
  readonly tail: number;
  readonly segment: number;
  /** Bytes in the segment. */
  readonly bytes: number;
  /** False until a batch has shown that the log goes on in this segment. */
  readonly hasBegun: boolean;
}

/** A batch without a definite answer. It stays bound to its segment, whatever happens. */
interface PendingBatch {
  readonly batch: LogBatch;
  readonly place: WritePlace;
  readonly sends: BatchSends;
}

/** The claim's answer; the driver returns large integers as text. */
interface ClaimRow {
  readonly epoch: string;
  readonly first_record: string;
  readonly segment: number;
}

/**
 * The log of one partition in PostgreSQL. Any number of processes may open it; the epoch decides
 * whose appends land (postgres.epoch-decides).
 */
export class PostgresLog implements BoundedLog {
  readonly #pool: SessionPool;
  readonly #statements: LogStatements;
  readonly #segmentBytes: number;
  readonly #silenceMs: number;
  readonly #runId = randomUUID();
  /** Undefined unless the partition was claimed before. */
  readonly #claimed: number | undefined;
  readonly #supply: SegmentSupply;
  readonly #room: RoomProbe;
  /** Undefined until the first `acquire` or append. */
  #place: WritePlace | undefined;
  /** The epoch of the last `acquire` of this object. */
  #epoch = 0;
  /** Undefined while every batch has a definite answer. */
  #pending: PendingBatch | undefined;
  /** Undefined while no append is outstanding. */
  #appending: Promise<AppendOutcome> | undefined;
  /** Set by the first failure and never cleared. */
  #failure: LogFailedError | undefined;
  /** Set by the first `close`. */
  #closing: Promise<void> | undefined;

  private constructor(options: PostgresLogOptions & typeof DEFAULTS) {
    const { address, segmentBytes, silenceMs, probeMs } = options;
    this.#claimed = options.epoch;
    this.#pool = new SessionPool({ address });
    this.#statements = new LogStatements(new TableNames(address.schema), FIRST_PARTITION);
    this.#segmentBytes = segmentBytes;
    this.#silenceMs = silenceMs;
    this.#supply = new SegmentSupply(this.#pool, this.#statements);
    this.#room = new RoomProbe(this.#pool, probeMs);
  }

  /**
   * Rejects with a `StoreSettingsError` when the database would lose acknowledged records, and with
   * a `StoreSchemaError` when it has no tables of a known form, or an import has not ended.
   */
  static async open(options: PostgresLogOptions): Promise<PostgresLog> {
    const log = new PostgresLog({ ...DEFAULTS, ...options });
    try {
      await log.#pool.run(async (session) => {
        await checkSettings(session, options.address);
        await checkSchema(session, options.address);
        if (!options.isImporting) await refuseUnfinishedImport(session, options.address);
      });
      return log;
    } catch (cause) {
      await log.#pool.close();
      throw cause;
    }
  }

  get isFull(): boolean {
    return this.#room.isFull;
  }

  async acquire(): Promise<LogHold> {
    this.#refuseIfEnded();
    try {
      const claimed = this.#claimed;
      return await this.#pool.run((session) =>
        claimed === undefined ? this.#claim(session) : this.#adopt(session, claimed),
      );
    } catch (cause) {
      if (failureOf(cause) === 'full') throw new LogFullError(this.#pool.address.shown);
      throw cause;
    }
  }

  /** What the log holds now. Others may append to it and trim it at any time. */
  async extent(): Promise<LogExtent> {
    this.#refuseIfEnded();
    const { first, tail } = await this.#pool.run((session) => readPlace(session, this.#statements));
    return { first, tail };
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    this.#refuseIfEnded();
    if (this.#appending !== undefined) throw overlappingAppend();
    checkBatch(batch);
    this.#appending = this.#land(batch);
    try {
      return await this.#appending;
    } finally {
      this.#appending = undefined;
    }
  }

  async read(from: number, onBatch: OnBatch): Promise<void> {
    this.#refuseIfEnded();
    await new LogReading(this.#pool, this.#statements, { from, onBatch }).run();
  }

  async trim(trim: LogTrim): Promise<TrimOutcome> {
    this.#refuseIfEnded();
    try {
      return await this.#pool.run((session) => trimLog(session, this.#statements, trim));
    } catch (cause) {
      // A later trim removes what stays now.
      if (failureOf(cause) === 'unreachable') return 'ok';
      throw cause;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#letGoOfEverything();
    return this.#closing;
  }

  async #claim(session: Session): Promise<LogHold> {
    const { rows } = await session.query<ClaimRow>(this.#statements.claim(), [this.#runId, '']);
    const [{ epoch, first_record, segment }] = rows;
    return this.#begin(session, { epoch: Number(epoch), first: Number(first_record), segment });
  }

  /** The hold was claimed by this process before. */
  async #adopt(session: Session, claimed: number): Promise<LogHold> {
    const place = await readPlace(session, this.#statements);
    if (place.epoch !== claimed) {
      throw new LogFailedError(
        this.#pool.address.shown,
        new Error(`epoch ${claimed} was followed by ${place.epoch}`),
        'another server took over',
      );
    }
    return this.#begin(session, place);
  }

  /** Nothing lands any more for an earlier epoch, so the tail that is read here is final. */
  async #begin(
    session: Session,
    { epoch, first, segment }: Pick<LogPlace, 'epoch' | 'first' | 'segment'>,
  ): Promise<LogHold> {
    const { tail, bytes } = await readEnd(session, this.#statements, segment);
    const hold = { epoch, first, tail };
    if (hold.epoch > this.#epoch) {
      this.#epoch = hold.epoch;
      this.#place = { tail, segment, bytes, hasBegun: true };
    }
    return hold;
  }

  async #land(batch: LogBatch): Promise<AppendOutcome> {
    const pending = await this.#pendingFor(batch);
    this.#pending = pending;
    try {
      const outcome = await pending.sends.next();
      if (outcome === 'full') this.#room.foundFull(this.#statements.probe(pending.place.segment));
      else if (outcome !== 'unknown') this.#settle(pending, outcome);
      return outcome;
    } catch (cause) {
      pending.sends.giveUp();
      this.#failure = new LogFailedError(this.#pool.address.shown, cause, 'see to the database');
      throw this.#failure;
    }
  }

  async #pendingFor(batch: LogBatch): Promise<PendingBatch> {
    const { epoch, expectedTail, nonce } = batch;
    const before = this.#pending;
    if (
      before?.batch.epoch === epoch &&
      before.batch.expectedTail === expectedTail &&
      before.batch.nonce === nonce
    ) {
      return before;
    }
    before?.sends.giveUp();
    this.#place ??= await this.#placeOfOthers();
    const place = this.#placeFor(expectedTail, this.#place);
    this.#place = place;
    const sends = new BatchSends({
      pool: this.#pool,
      silenceMs: this.#silenceMs,
      send: (session) => this.#send(session, batch, place),
    });
    return { batch, place, sends };
  }

  /** Where the log is written, if this object has not acquired it. */
  async #placeOfOthers(): Promise<WritePlace> {
    const { tail, segment } = await this.#pool.run((session) =>
      readPlace(session, this.#statements),
    );
    return { tail, segment, bytes: 0, hasBegun: true };
  }

  /** Goes on in the next segment when the current one is large enough and the next one is there. */
  #placeFor(expectedTail: number, place: WritePlace): WritePlace {
    const { tail, segment, bytes } = place;
    if (expectedTail !== tail || bytes < this.#segmentBytes / 2) return place;
    if (bytes >= this.#segmentBytes && place.hasBegun && this.#supply.has(segment + 1)) {
      return { tail, segment: segment + 1, bytes: 0, hasBegun: false };
    }
    this.#supply.prepare(segment + 1);
    return place;
  }

  async #send(session: Session, batch: LogBatch, place: WritePlace): Promise<AppendOutcome> {
    const { epoch, expectedTail, nonce, recordCount, bytes } = batch;
    const { segment } = place;
    const crc = batchChecksum({ ...batch, firstRecord: expectedTail });
    try {
      if (!place.hasBegun) {
        await session.query(this.#statements.roll(segment - 1), [epoch, expectedTail]);
      }
      const values = [epoch, expectedTail, recordCount, nonce, crc, asBuffer(bytes)];
      const appended = await session.query(this.#statements.append(segment), values);
      if (appended.count === 1) return 'ok';
      const judged = await session.query(this.#statements.judge(segment), [
        epoch,
        expectedTail,
        nonce,
      ]);
      return judged.count === 1 ? 'duplicate' : 'fenced';
    } catch (cause) {
      const failure = failureOf(cause);
      if (failure === 'full') return 'full';
      // The segment was trimmed, so the log has moved on.
      if (failure === 'missing') return 'fenced';
      throw cause;
    }
  }

  #settle({ batch, place, sends }: PendingBatch, outcome: AppendOutcome): void {
    this.#pending = undefined;
    sends.giveUp();
    this.#room.foundRoom();
    if (outcome === 'fenced' || this.#place !== place) return;
    const tail = batch.expectedTail + batch.recordCount;
    this.#place = { ...place, tail, bytes: place.bytes + batch.bytes.length, hasBegun: true };
  }

  async #letGoOfEverything(): Promise<void> {
    // Its caller gets the outcome.
    await this.#appending?.catch(() => {});
    this.#pending?.sends.giveUp();
    this.#room.close();
    await this.#supply.settled();
    await this.#pool.close();
  }

  #refuseIfEnded(): void {
    if (this.#closing !== undefined) {
      throw new Error(`the log in ${this.#pool.address.shown} is closed; open it again`);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** The driver sends buffers as they are, and other arrays of bytes as text. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
