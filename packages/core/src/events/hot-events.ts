import type { LeaseNumber, SessionId } from '../base/ids.ts';
import { listTexts, setTexts } from '../task/task-texts.ts';
import type { Event } from './events.ts';
import type { RecordReader } from './record-reader.ts';
import type { RecordWriter } from './record-writer.ts';

/**
 * Encodes the events of a task that is submitted, leased, run and forgotten. Handwritten, because
 * reading fields by name from the table takes twice as long. Returns whether it knows the event.
 */
export function encodeHot(writer: RecordWriter, event: Event): boolean {
  switch (event.type) {
    case 'task_submitted':
      writer.varint(event.runAt);
      writer.claim(event.dedupe);
      writer.name(event.taskType);
      writer.byte(event.priority);
      writer.sparse(listTexts(event));
      writer.payload(event.input);
      return true;
    case 'attempt_leased':
      writer.varint(event.lease);
      writer.name(event.session);
      writer.name(event.worker);
      writer.varint(event.leaseMs);
      writer.varint(event.resume);
      return true;
    case 'attempt_succeeded':
      writer.varint(event.startedAt);
      writer.payload(event.output);
      return true;
    case 'attempt_started':
    case 'dedupe_forgotten':
    case 'task_due':
    case 'task_forgotten':
      return true;
    default:
      return false;
  }
}

/** Reads what `encodeHot` wrote. */
export function decodeHot(reader: RecordReader, event: Event): boolean {
  switch (event.type) {
    case 'task_submitted':
      event.runAt = reader.varint();
      reader.claim(event.dedupe);
      event.taskType = reader.name();
      event.priority = reader.byte();
      setTexts(event, reader.sparse());
      reader.payload(event.input);
      return true;
    case 'attempt_leased':
      event.lease = reader.varint() as LeaseNumber;
      event.session = reader.name() as SessionId;
      event.worker = reader.name();
      event.leaseMs = reader.varint();
      event.resume = reader.varint();
      return true;
    case 'attempt_succeeded':
      event.startedAt = reader.varint();
      reader.payload(event.output);
      return true;
    case 'attempt_started':
    case 'dedupe_forgotten':
    case 'task_due':
    case 'task_forgotten':
      return true;
    default:
      return false;
  }
}
