import { type Event, type Events, makeEvents } from './event.ts';
import type { LeaseNumber, SessionId, Slot, TaskNumber } from './ids.ts';
import { unreachable } from './invariant.ts';
import type { RecordReader } from './record-reader.ts';
import type { RecordWriter } from './record-writer.ts';

/**
 * Events as bytes: type, version, fields in the order below. A number of a type or version never
 * changes its meaning; a change of fields is a new version, and an unknown one stops the partition
 * (L4).
 */
const TYPE = {
  task_submitted: 1,
  attempt_leased: 2,
  attempt_started: 3,
  attempt_succeeded: 4,
  attempt_failed: 5,
  attempt_returned: 6,
  attempts_exhausted: 7,
  task_forgotten: 8,
  task_due: 9,
  dedupe_forgotten: 10,
  state_hashed: 64,
} as const satisfies Record<Event['type'], number>;

/** The version that is written. A reader knows older ones as well, once there are any. */
const VERSION = {
  task_submitted: 1,
  attempt_leased: 1,
  attempt_started: 1,
  attempt_succeeded: 1,
  attempt_failed: 1,
  attempt_returned: 1,
  attempts_exhausted: 1,
  task_forgotten: 1,
  task_due: 1,
  dedupe_forgotten: 1,
  state_hashed: 1,
} as const satisfies Record<Event['type'], number>;

export class UnknownEventError extends Error {
  override readonly name = 'UnknownEventError';

  constructor(type: number, version: number) {
    super(
      `the log holds an event of type ${type} version ${version}, which this version of Sluice ` +
        'does not know; start the version that wrote it',
    );
  }
}

export function encodeEvent(writer: RecordWriter, event: Event): void {
  writer.beginEvent(TYPE[event.type], VERSION[event.type]);
  writer.varint(event.slot);
  writer.varint(event.task);
  switch (event.type) {
    case 'task_submitted':
      writer.name(event.taskType);
      writer.byte(event.priority);
      writer.name(event.retry);
      writer.varint(event.runAt);
      writer.claim(event.dedupe);
      return writer.payload(event.input);
    case 'attempt_leased':
      writer.varint(event.lease);
      writer.name(event.session);
      writer.name(event.worker);
      return writer.varint(event.leaseMs);
    case 'attempt_succeeded':
      return writer.payload(event.output);
    case 'attempt_failed':
      writer.varint(event.retryAt);
      return writer.payload(event.error);
    case 'attempt_returned':
      writer.byte(event.reason);
      return writer.byte(event.spent ? 1 : 0);
    case 'attempts_exhausted':
      return writer.byte(event.reason);
    case 'state_hashed':
      writer.varint(event.schema);
      return writer.varint(event.hash);
    case 'attempt_started':
    case 'dedupe_forgotten':
    case 'task_due':
    case 'task_forgotten':
      return;
    default:
      unreachable(event);
  }
}

/** Decodes one event after the other into the same objects; each is valid until the next call. */
export class EventDecoder {
  private readonly events: Events = makeEvents();

  next(reader: RecordReader): Event {
    const type = reader.byte();
    const version = reader.byte();
    const event = this.eventOf(type, version);
    if (version !== VERSION[event.type]) throw new UnknownEventError(type, version);
    event.slot = reader.varint() as Slot;
    event.task = reader.varint() as TaskNumber;
    decodeFields(reader, event);
    return event;
  }

  private eventOf(type: number, version: number): Event {
    switch (type) {
      case TYPE.task_submitted:
        return this.events.taskSubmitted;
      case TYPE.attempt_leased:
        return this.events.attemptLeased;
      case TYPE.attempt_started:
        return this.events.attemptStarted;
      case TYPE.attempt_succeeded:
        return this.events.attemptSucceeded;
      case TYPE.attempt_failed:
        return this.events.attemptFailed;
      case TYPE.attempt_returned:
        return this.events.attemptReturned;
      case TYPE.attempts_exhausted:
        return this.events.attemptsExhausted;
      case TYPE.task_forgotten:
        return this.events.taskForgotten;
      case TYPE.task_due:
        return this.events.taskDue;
      case TYPE.dedupe_forgotten:
        return this.events.dedupeForgotten;
      case TYPE.state_hashed:
        return this.events.stateHashed;
      default:
        throw new UnknownEventError(type, version);
    }
  }
}

function decodeFields(reader: RecordReader, event: Event): void {
  switch (event.type) {
    case 'task_submitted':
      event.taskType = reader.name();
      event.priority = reader.byte();
      event.retry = reader.name();
      event.runAt = reader.varint();
      reader.claim(event.dedupe);
      return reader.payload(event.input);
    case 'attempt_leased':
      event.lease = reader.varint() as LeaseNumber;
      event.session = reader.name() as SessionId;
      event.worker = reader.name();
      event.leaseMs = reader.varint();
      return;
    case 'attempt_succeeded':
      return reader.payload(event.output);
    case 'attempt_failed':
      event.retryAt = reader.varint();
      return reader.payload(event.error);
    case 'attempt_returned':
      event.reason = reader.byte();
      event.spent = reader.byte() === 1;
      return;
    case 'attempts_exhausted':
      event.reason = reader.byte();
      return;
    case 'state_hashed':
      event.schema = reader.varint();
      event.hash = reader.varint();
      return;
    case 'attempt_started':
    case 'dedupe_forgotten':
    case 'task_due':
    case 'task_forgotten':
      return;
    default:
      unreachable(event);
  }
}
