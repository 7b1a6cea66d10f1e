import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { Outcome } from '../support/worker-client.ts';
import type { LedgerInput } from './ledger-task.ts';

export interface JournalTask extends LedgerInput {
  readonly id: string;
  readonly lease: string;
  readonly attempt: number;
}

/**
 * What the test did and what it received, with wall-clock times where they matter. `submit`,
 * `resuming`, `reporting`, `stopping` and `killing` are written before the act, the others when the
 * news arrived.
 */
export type Entry =
  | {
      readonly kind: 'submit';
      readonly batch: number;
      readonly size: number;
      readonly isKeyed: boolean;
      readonly at: number;
    }
  | { readonly kind: 'acked'; readonly batch: number; readonly ids: readonly string[] }
  | { readonly kind: 'unanswered'; readonly batch: number }
  | { readonly kind: 'resuming'; readonly worker: number; readonly running: readonly string[] }
  | { readonly kind: 'welcomed'; readonly worker: number; readonly lost: readonly string[] }
  | {
      readonly kind: 'pushed';
      readonly worker: number;
      readonly tasks: readonly JournalTask[];
      readonly at: number;
    }
  | { readonly kind: 'executed'; readonly task: string; readonly lease: string }
  | { readonly kind: 'reporting'; readonly worker: number; readonly leases: readonly string[] }
  | {
      readonly kind: 'answered';
      readonly worker: number;
      readonly leases: readonly string[];
      readonly outcomes: readonly Outcome[];
    }
  | { readonly kind: 'stopping'; readonly round: number }
  | { readonly kind: 'killing'; readonly round: number }
  | { readonly kind: 'unexpected'; readonly problem: string }
  | {
      readonly kind: 'ended';
      readonly task: string;
      /** The state that the server shows at the end; `missing` when it does not know the task. */
      readonly state: string;
      readonly attempt: number;
      readonly output: unknown;
    };

const CHUNK_BYTES = 1024 * 1024;

/** Writes entries as lines of JSON. An entry is in the file when `write` returns. */
export class Journal {
  private readonly file: number;

  constructor(path: string) {
    this.file = openSync(path, 'wx');
  }

  write(entry: Entry): void {
    writeSync(this.file, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    closeSync(this.file);
  }
}

/** Reads a journal piece by piece: after many rounds it is too large for one string. */
export function* readJournal(path: string): Generator<Entry> {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let rest = Buffer.alloc(0);
    for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
      const bytes = Buffer.concat([rest, chunk.subarray(0, length)]);
      const end = bytes.lastIndexOf('\n') + 1;
      for (const line of bytes.toString('utf8', 0, end).split('\n')) {
        if (line !== '') yield JSON.parse(line) as Entry;
      }
      rest = bytes.subarray(end);
    }
  } finally {
    closeSync(file);
  }
}
