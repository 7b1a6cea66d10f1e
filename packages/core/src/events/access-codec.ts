import { unreachable } from '../base/invariant.ts';
import type { AccessEvent } from './access-event.ts';
import type { Event } from './event.ts';
import type { RecordReader } from './record-reader.ts';
import type { RecordWriter } from './record-writer.ts';

const TYPES: readonly Event['type'][] = [
  'access_key_created',
  'access_key_expiry_set',
  'access_key_revoked',
  'audit_recorded',
];

export function isAccessEvent(event: Event): event is AccessEvent {
  return TYPES.includes(event.type);
}

/** The fields of an event behind its slot and task, in an order that stays (L4). */
export function encodeAccess(writer: RecordWriter, event: AccessEvent): void {
  switch (event.type) {
    case 'access_key_created':
      for (const field of KEY_TEXTS) writer.name(event[field]);
      return writer.varint(event.expiresAt);
    case 'access_key_expiry_set':
      writer.name(event.key);
      return writer.varint(event.expiresAt);
    case 'access_key_revoked':
      return writer.name(event.key);
    case 'audit_recorded':
      for (const field of AUDIT_TEXTS) writer.name(event[field]);
      return;
    default:
      unreachable(event);
  }
}

export function decodeAccess(reader: RecordReader, event: AccessEvent): void {
  switch (event.type) {
    case 'access_key_created':
      for (const field of KEY_TEXTS) event[field] = reader.name();
      event.expiresAt = reader.varint();
      return;
    case 'access_key_expiry_set':
      event.key = reader.name();
      event.expiresAt = reader.varint();
      return;
    case 'access_key_revoked':
      event.key = reader.name();
      return;
    case 'audit_recorded':
      for (const field of AUDIT_TEXTS) event[field] = reader.name();
      return;
    default:
      unreachable(event);
  }
}

const KEY_TEXTS = ['key', 'namespace', 'role', 'name', 'hash'] as const;

const AUDIT_TEXTS = [
  'namespace',
  'actor',
  'address',
  'request',
  'action',
  'subject',
  'detail',
] as const;
