import { EventDecoder } from '../events/event-codec.ts';
import type { Event } from '../events/events.ts';
import { RecordReader } from '../events/record-reader.ts';
import { CLAIM_WORDS, type DedupeClaim } from '../task/dedupe-claim.ts';
import { testUtf8 } from './test-utf8.ts';

/** An event with a copy of its payload, free of the buffer that it was read from. */
export type PlainEvent = Readonly<Record<string, unknown>> & { readonly type: Event['type'] };

export interface PlainRecord {
  readonly at: number;
  readonly events: readonly PlainEvent[];
}

export function decodeBatch(batch: Uint8Array): PlainRecord[] {
  const reader = new RecordReader(batch, testUtf8);
  const decoder = new EventDecoder();
  const records: PlainRecord[] = [];
  while (reader.hasRecord()) {
    const at = reader.beginRecord();
    const events: PlainEvent[] = [];
    while (reader.hasEvent()) events.push(plainEvent(decoder.next(reader)));
    records.push({ at, events });
  }
  return records;
}

export function plainEvent(event: Event): PlainEvent {
  const entries = Object.entries(event).map(([field, value]) => {
    if (typeof value !== 'object') return [field, value];
    if (Array.isArray(value)) return [field, [...value]];
    if ('words' in value) return [field, plainClaim(value)];
    const { bytes, start, end } = value;
    return [field, bytes.slice(start, end)];
  });
  return Object.fromEntries(entries);
}

function plainClaim({ windowMs, words, start }: DedupeClaim): object {
  return { windowMs, words: windowMs === 0 ? [] : [...words.slice(start, start + CLAIM_WORDS)] };
}
