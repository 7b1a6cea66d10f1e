import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { SluiceError } from '@sluice/protocol';
import { BACKUP_FORMAT, type BackupLine } from '@sluice/protocol/backup-format';
import type { PacedAnswer } from '../http/paced-answer.ts';
import { type BackupPart, type BackupSource, backupFiles, NOT_YET } from './backup-files.ts';

const PIECE_BYTES = 256 * 1024;

/** How long one reader may keep the log from being trimmed, while the disk has room. */
const HOLD_MS_MAX = 3_600_000;

export interface BackupOrder extends BackupSource {
  readonly version: string;
  readonly startedAt: string;
  readonly isFull: () => boolean;
  readonly holdMsMax?: number;
  /** Called with failures that the reader is not told about. */
  readonly onFailed: (cause: Error) => void;
}

type Answer = Pick<PacedAnswer, 'write' | 'signal'>;

/**
 * Sends everything, and a last line that says it was complete. A reader that disconnects or is too
 * slow gets an incomplete backup, which lacks that line.
 */
export async function sendBackup(answer: Answer, order: BackupOrder): Promise<void> {
  const say = (line: BackupLine) => answer.write(`${JSON.stringify(line)}\n`);
  const watch = new HoldWatch(order);
  const { version, startedAt } = order;
  const total = { files: 0, bytes: 0 };
  try {
    await say({ kind: 'begin', format: BACKUP_FORMAT, version, startedAt });
    for await (const part of backupFiles(order, () => watch.end())) {
      if (part === NOT_YET) {
        watch.check();
        await say({ kind: 'wait' });
        continue;
      }
      const { path, bytes } = part;
      await say({ kind: 'file', path, bytes });
      const hash = createHash('sha256');
      for await (const piece of piecesOf(part)) {
        watch.check();
        hash.update(piece);
        await say({ kind: 'piece', bytes: piece.length });
        await answer.write(piece);
        if (answer.signal.aborted) return;
      }
      const sha256 = hash.digest('hex');
      await say({ kind: 'check', sha256 });
      total.files += 1;
      total.bytes += bytes;
    }
    await say({ kind: 'end', ...total });
  } catch (cause) {
    order.onFailed(cause as Error);
    await say(errorLine(cause));
  }
}

/** Limits how long the log is not trimmed. */
class HoldWatch {
  private readonly order: BackupOrder;
  private readonly endsAt: number;
  private isOver = false;

  constructor(order: BackupOrder) {
    this.order = order;
    this.endsAt = performance.now() + (order.holdMsMax ?? HOLD_MS_MAX);
  }

  end(): void {
    this.isOver = true;
  }

  check(): void {
    if (this.isOver) return;
    if (this.order.isFull()) {
      throw new SluiceError('disk_full', 'the disk of the server is full; free some space');
    }
    if (performance.now() < this.endsAt) return;
    throw new SluiceError(
      'unavailable',
      'the backup took too long while the log grew; run it on a faster connection to the server',
    );
  }
}

async function* piecesOf({ path, bytes, content }: BackupPart): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) {
    yield content;
    return;
  }
  try {
    for (let position = 0; position < bytes; ) {
      const piece = await readPiece(content, position, Math.min(PIECE_BYTES, bytes - position));
      if (piece.length === 0) throw new Error(`${path} ends after ${position} of ${bytes} bytes`);
      position += piece.length;
      yield piece;
    }
  } finally {
    await content.close();
  }
}

/** Reads into new memory: earlier pieces may still be waiting to be sent. */
async function readPiece(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(
    Buffer.allocUnsafeSlow(length),
    0,
    length,
    position,
  );
  return buffer.subarray(0, bytesRead);
}

function errorLine(cause: unknown): BackupLine {
  const isMeant = cause instanceof SluiceError;
  const code = isMeant ? cause.code : 'internal_error';
  const message = isMeant ? cause.message : 'something went wrong on the server';
  return { kind: 'error', code, message };
}
