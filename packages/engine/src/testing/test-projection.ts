import { type Event, readEvents } from '@sluice/core';
import type { CommittedBatch, CommittedFeed, Watermark } from '../committed-feed.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const UTF8 = {
  encode: (text: string) => encoder.encode(text),
  decode: (bytes: Uint8Array) => decoder.decode(bytes),
};

/** The durable data of a projection: rows and watermark, saved together. */
export interface SavedProjection {
  readonly rows: ReadonlyMap<number, string>;
  readonly watermark: Watermark;
}

/** A consumer of committed batches that keeps one row per task. */
export class TestProjection {
  readonly firstRecords: number[] = [];
  saved: SavedProjection;
  private rows: Map<number, string>;
  private watermark: Watermark;

  constructor(saved: SavedProjection = { rows: new Map(), watermark: { position: 0, at: 0 } }) {
    this.saved = saved;
    this.rows = new Map(saved.rows);
    this.watermark = saved.watermark;
  }

  /** Takes the next batch, once there is one. Returns false when the feed is closed. */
  async takeOne(feed: CommittedFeed): Promise<boolean> {
    const batch = await feed.next();
    if (batch === undefined) return false;
    this.store(batch);
    return true;
  }

  /** Takes everything that is committed up to `position`. */
  async takeUpTo(feed: CommittedFeed, position: number): Promise<void> {
    while (this.watermark.position < position && (await this.takeOne(feed)));
  }

  /** Saves its data and acknowledges it. */
  save(feed: CommittedFeed): void {
    this.saved = { rows: new Map(this.rows), watermark: this.watermark };
    feed.acknowledge(this.watermark);
  }

  /** Rows as text, in the order of tasks. */
  get all(): string[] {
    return [...this.rows].toSorted(([a], [b]) => a - b).map(([task, row]) => `${task} ${row}`);
  }

  private store({ firstRecord, recordCount, bytes }: CommittedBatch): void {
    if (firstRecord !== this.watermark.position) {
      throw new Error(`record ${firstRecord} came when ${this.watermark.position} was due`);
    }
    this.firstRecords.push(firstRecord);
    const at = readEvents(bytes, UTF8, (event) => this.apply(event));
    this.watermark = { position: firstRecord + recordCount, at };
  }

  private apply(event: Event): void {
    if (event.type === 'task_submitted') {
      const { bytes, start, end } = event.input;
      this.rows.set(event.task, `submitted ${decoder.decode(bytes.subarray(start, end))}`);
    } else if (event.type === 'attempt_succeeded') {
      this.rows.set(event.task, 'succeeded');
    }
  }
}
