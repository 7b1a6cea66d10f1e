import type { Utf8 } from '../base/utf8.ts';
import { EventDecoder } from './event-codec.ts';
import type { Event } from './events.ts';
import { RecordReader } from './record-reader.ts';

/**
 * Passes the events of a batch to `visit`, in order, each with the time of its record and that
 * record's place in the batch. An event and its payloads are valid only during the call: the
 * objects and the batch's memory are reused. A caller that reads many batches passes its decoder.
 *
 * Returns the time of the last record. Times never decrease from one record of a log to the next.
 */
export function readEvents(
  batch: Uint8Array,
  utf8: Utf8,
  visit: (event: Event, at: number, place: number) => void,
  decoder = new EventDecoder(),
): number {
  const reader = new RecordReader(batch, utf8);
  let at = 0;
  for (let place = 0; reader.hasRecord(); place++) {
    at = reader.beginRecord();
    while (reader.hasEvent()) visit(decoder.next(reader), at, place);
  }
  return at;
}
