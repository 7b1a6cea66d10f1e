import { unreachable } from '../base/invariant.ts';
import type { CallbackEvent } from './callback-event.ts';
import type { Event } from './event.ts';
import type { RecordReader } from './record-reader.ts';
import type { RecordWriter } from './record-writer.ts';

const TYPES: readonly Event['type'][] = [
  'callback_delivered',
  'callback_failed',
  'callback_redelivered',
  'callback_dropped',
];

export function isCallbackEvent(event: Event): event is CallbackEvent {
  return TYPES.includes(event.type);
}

/** The fields of an event behind its slot and task, in an order that stays (L4). */
export function encodeCallback(writer: RecordWriter, event: CallbackEvent): void {
  writer.varint(event.delivery);
  writer.byte(event.state);
  switch (event.type) {
    case 'callback_delivered':
      writer.varint(event.status);
      return writer.varint(event.durationMs);
    case 'callback_failed':
      writer.varint(event.status);
      writer.varint(event.durationMs);
      writer.byte(event.failure);
      return writer.varint(event.nextAt);
    case 'callback_redelivered':
    case 'callback_dropped':
      return;
    default:
      unreachable(event);
  }
}

export function decodeCallback(reader: RecordReader, event: CallbackEvent): void {
  event.delivery = reader.varint();
  event.state = reader.byte();
  switch (event.type) {
    case 'callback_delivered':
      event.status = reader.varint();
      event.durationMs = reader.varint();
      return;
    case 'callback_failed':
      event.status = reader.varint();
      event.durationMs = reader.varint();
      event.failure = reader.byte();
      event.nextAt = reader.varint();
      return;
    case 'callback_redelivered':
    case 'callback_dropped':
      return;
    default:
      unreachable(event);
  }
}
