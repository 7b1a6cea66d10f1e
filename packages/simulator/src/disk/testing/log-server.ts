import {
  type Disk,
  FileLog,
  FileSnapshots,
  LogFullError,
  type LogHold,
  LogTrimmedError,
  readLogFolder,
  STOP_READING,
} from '@sluice/log';
import type { RandomStream } from '../../kernel/random.ts';
import type { SimProcess } from '../../kernel/sim-process.ts';
import type { SimulatedDisk } from '../simulated-disk.ts';
import type { LogLedger } from './log-ledger.ts';

const LOG_FOLDER = '/data/partition/log';
const SNAPSHOT_FOLDER = '/data/partition/snapshots';
const SEGMENT_BYTES = 2048;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface LogServerParts {
  readonly machine: SimulatedDisk;
  readonly disk: Disk;
  readonly process: SimProcess;
  readonly ledger: LogLedger;
  readonly random: RandomStream;
  /** Whether the disk may fail, write partially or be full. */
  readonly hasFaults: boolean;
}

/** A process that uses its log and its snapshots in all the ways that a server does. */
export class LogServer {
  private readonly parts: LogServerParts;
  private readonly log: FileLog;
  private readonly snapshots: FileSnapshots;
  private hold: LogHold | undefined;
  /** The snapshot that is being made, and the trim after it; never rejects. */
  private folding: Promise<void> | undefined;
  private readonly failure = Promise.withResolvers<never>();

  private constructor(parts: LogServerParts, log: FileLog, snapshots: FileSnapshots) {
    this.parts = parts;
    this.log = log;
    this.snapshots = snapshots;
    // The caller of the server gets the error. This only prevents an unhandled rejection.
    this.failure.promise.catch(() => undefined);
  }

  /**
   * Starts, checks what it finds, works for `steps` steps and ends, unless it fails or is killed
   * first.
   */
  static async run(parts: LogServerParts, steps: number): Promise<void> {
    const { disk, process, random } = parts;
    const log = await FileLog.open({
      folder: LOG_FOLDER,
      segmentBytes: SEGMENT_BYTES,
      disk,
      random: () => random.integer(0, 2 ** 32 - 1),
      startTimer: process.after,
    });
    const snapshots = await FileSnapshots.open(SNAPSHOT_FOLDER, disk);
    const server = new LogServer(parts, log, snapshots);
    await Promise.race([server.work(steps), server.failure.promise]);
  }

  private async work(steps: number): Promise<void> {
    await this.acquire();
    await this.checkAll();
    for (let step = 0; step < steps; step++) await this.step();
    await this.folding;
    await this.log.close();
  }

  private async step(): Promise<void> {
    const { random, hasFaults } = this.parts;
    const action = random.integer(0, 19);
    if (action === 0) await this.acquire();
    else if (action <= 2) this.startFold();
    else if (action === 3) await this.pause(random.integer(0, 3));
    else if (action === 4 && hasFaults) this.harm();
    else await this.append();
  }

  private async acquire(): Promise<void> {
    for (;;) {
      try {
        this.hold = await this.log.acquire();
        return;
      } catch (cause) {
        if (!(cause instanceof LogFullError)) throw cause;
        await this.makeRoom();
      }
    }
  }

  private async append(): Promise<void> {
    const { ledger, random } = this.parts;
    const tail = ledger.texts.length;
    const length = random.chance(0.1) ? random.integer(0, 5000) : random.integer(0, 400);
    const text = `${tail}:${random.integer(0, 9)}`.padEnd(length, 'abcdefg');
    ledger.inDoubt = text;
    const batch = {
      epoch: this.hold?.epoch ?? 0,
      expectedTail: tail,
      nonce: tail,
      recordCount: 1,
      bytes: encoder.encode(text),
    };
    while ((await this.log.append(batch)) !== 'ok') await this.makeRoom();
    ledger.texts.push(text);
    ledger.inDoubt = undefined;
  }

  /** Makes snapshots like the real keeper: one at a time, concurrently with everything else. */
  private startFold(): void {
    if (this.folding !== undefined) return;
    this.folding = this.fold()
      .catch((cause: Error) => this.failure.reject(cause))
      .finally(() => {
        this.folding = undefined;
      });
  }

  private async fold(): Promise<void> {
    const { disk, ledger, random } = this.parts;
    const position = ledger.texts.length;
    const [newest = 0] = await this.snapshots.positions();
    const texts: string[] = [];
    const onBatch = ({ bytes }: { bytes: Uint8Array }) => texts.push(decoder.decode(bytes));
    await readLogFolder(LOG_FOLDER, { from: newest, upTo: position, onBatch }, disk);
    if (texts.join() !== ledger.texts.slice(newest, position).join()) {
      throw new Error(`the log from ${newest} to ${position} is not what was written`);
    }
    await this.pause(random.integer(0, 3));
    if (await this.save(position, newest)) ledger.snapshot = Math.max(ledger.snapshot, position);
    const [, older] = await this.snapshots.positions();
    if (older === undefined || this.hold === undefined) return;
    const outcome = await this.log.trim({ epoch: this.hold.epoch, upTo: older });
    if (outcome === 'ok') ledger.first = await this.findFirst();
  }

  /** Returns whether there was room and the disk did not fail. */
  private async save(position: number, base: number): Promise<boolean> {
    const { ledger, random } = this.parts;
    const pieces = random.integer(0, 20);
    try {
      const snapshot = { position, schema: 1, hash: position, base };
      await this.snapshots.save(snapshot, (write) => {
        write(encoder.encode(contentFor(ledger.texts, position)));
        for (let piece = 0; piece < pieces; piece++) write(encoder.encode('x'.repeat(piece * 50)));
      });
      return true;
    } catch (cause) {
      if (['ENOSPC', 'EIO'].includes((cause as { code?: string }).code ?? '')) return false;
      throw cause;
    }
  }

  private async checkAll(): Promise<void> {
    const { ledger } = this.parts;
    const { epoch, first } = this.hold!;
    const texts: string[] = [];
    await this.log.read(first, ({ bytes }) => texts.push(decoder.decode(bytes)));
    const positions = await this.snapshots.positions();
    ledger.check({ epoch, first, texts, snapshots: positions });
    for (const position of positions) {
      const { pieces } = await this.snapshots.open(position);
      const [content] = Array.from(pieces, (piece) => decoder.decode(piece));
      if (content !== contentFor(ledger.texts, position)) {
        throw new Error(`the snapshot at ${position} is not what was saved`);
      }
    }
  }

  private async findFirst(): Promise<number> {
    try {
      await this.log.read(0, () => STOP_READING);
      return 0;
    } catch (cause) {
      if (cause instanceof LogTrimmedError) return cause.first;
      throw cause;
    }
  }

  private harm(): void {
    const { machine, random } = this.parts;
    const kind = random.integer(0, 9);
    const order = { after: random.integer(0, 8) };
    if (kind === 0) machine.faults.failWrite(order);
    else if (kind === 1) machine.faults.failSync(order);
    else if (kind <= 4) machine.faults.shortWrites += random.integer(1, 10);
    else if (kind <= 7) machine.capacityBytes = machine.usedBytes + random.integer(0, 5000);
    else machine.faults.syncDelayMs = random.pick([0, 0, 20]);
  }

  private async makeRoom(): Promise<void> {
    await this.pause(500);
    this.parts.machine.capacityBytes = Number.POSITIVE_INFINITY;
  }

  private pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.parts.process.after(delayMs, resolve);
    });
  }
}

/** Identifies the records that it stands for by its length and its last text. */
function contentFor(texts: readonly string[], position: number): string {
  const length = texts.slice(0, position).reduce((sum, text) => sum + text.length, 0);
  return `${position} records, ${length} bytes, the last is '${texts[position - 1]}'`;
}
