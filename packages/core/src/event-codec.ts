import { decodeAccess, encodeAccess, isAccessEvent } from './access-codec.ts';
import { decodeCallback, encodeCallback, isCallbackEvent } from './callback-codec.ts';
import type { Event, TaskDetails } from './event.ts';
import type { LeaseNumber, SessionId, Slot, TaskNumber } from './ids.ts';
import { unreachable } from './invariant.ts';
import { makeEvents } from './make-events.ts';
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
  task_readmitted: 11,
  attempt_deferred: 12,
  attempt_stopping: 13,
  attempt_timed_out: 14,
  task_ended: 15,
  task_patched: 16,
  task_paused: 17,
  task_resumed: 18,
  task_retried: 19,
  dead_letter_dropped: 20,
  queue_changed: 21,
  task_type_changed: 22,
  redrive_started: 23,
  redrive_ended: 24,
  access_key_created: 25,
  access_key_expiry_set: 26,
  access_key_revoked: 27,
  audit_recorded: 28,
  leases_skipped: 63,
  callback_delivered: 40,
  callback_failed: 41,
  callback_redelivered: 42,
  callback_dropped: 43,
  state_hashed: 64,
} as const satisfies Record<Event['type'], number>;

type OtherEvent = Extract<
  Event,
  {
    type:
      | 'task_readmitted'
      | 'task_ended'
      | 'task_patched'
      | 'task_retried'
      | 'dead_letter_dropped'
      | 'queue_changed'
      | 'task_type_changed'
      | 'redrive_started'
      | 'redrive_ended'
      | 'leases_skipped';
  }
>;

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
  task_readmitted: 1,
  attempt_deferred: 1,
  attempt_stopping: 1,
  attempt_timed_out: 1,
  task_ended: 1,
  task_patched: 1,
  task_paused: 1,
  task_resumed: 1,
  task_retried: 1,
  dead_letter_dropped: 1,
  queue_changed: 1,
  task_type_changed: 1,
  redrive_started: 1,
  redrive_ended: 1,
  access_key_created: 1,
  access_key_expiry_set: 1,
  access_key_revoked: 1,
  audit_recorded: 1,
  leases_skipped: 1,
  callback_delivered: 1,
  callback_failed: 1,
  callback_redelivered: 1,
  callback_dropped: 1,
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
      writer.varint(event.runAt);
      writer.claim(event.dedupe);
      return encodeDetails(writer, event);
    case 'attempt_leased':
      writer.varint(event.lease);
      writer.name(event.session);
      writer.name(event.worker);
      writer.varint(event.leaseMs);
      return writer.varint(event.resume);
    case 'attempt_succeeded':
      writer.varint(event.startedAt);
      return writer.payload(event.output);
    case 'attempt_deferred':
      return writer.varint(event.startedAt);
    case 'attempt_failed':
      writer.varint(event.startedAt);
      writer.byte(event.answer);
      writer.varint(event.retryAt);
      return writer.payload(event.error);
    case 'attempt_returned':
      writer.byte(event.reason);
      return writer.byte(event.spent ? 1 : 0);
    case 'attempts_exhausted':
      return writer.byte(event.reason);
    case 'attempt_stopping':
      writer.byte(event.reason);
      return writer.varint(event.stopAt);
    case 'attempt_timed_out':
      writer.varint(event.startedAt);
      writer.byte(event.reason);
      writer.byte(event.answer);
      writer.varint(event.retryAt);
      return writer.payload(event.error);
    case 'state_hashed':
      writer.varint(event.schema);
      return writer.varint(event.hash);
    case 'attempt_started':
    case 'dedupe_forgotten':
    case 'task_due':
    case 'task_forgotten':
    case 'task_paused':
    case 'task_resumed':
      return;
    default:
      if (isCallbackEvent(event)) return encodeCallback(writer, event);
      return isAccessEvent(event) ? encodeAccess(writer, event) : encodeOther(writer, event);
  }
}

/** The part of the events that are rare. */
function encodeOther(writer: RecordWriter, event: OtherEvent): void {
  switch (event.type) {
    case 'task_readmitted':
      writer.varint(event.submittedAt);
      writer.varint(event.dedupe);
      return encodeDetails(writer, event);
    case 'task_ended':
      writer.varint(event.startedAt);
      writer.byte(event.state);
      writer.byte(event.reason);
      writer.byte(event.answer);
      writer.varint(event.key);
      writer.byte(event.hasPayload ? 1 : 0);
      return writer.payload(event.payload);
    case 'task_patched':
      writer.byte(event.fields);
      writer.byte(event.priority);
      writer.varint(event.runAt);
      writer.name(event.timeouts);
      writer.name(event.tags);
      return writer.payload(event.input);
    case 'task_retried':
      return writer.varint(event.redrive);
    case 'dead_letter_dropped':
      return writer.byte(event.isOverflow ? 1 : 0);
    case 'queue_changed':
      writer.name(event.taskType);
      return writer.byte(event.paused ? 1 : 0);
    case 'task_type_changed':
      writer.name(event.taskType);
      return writer.name(event.definition);
    case 'redrive_started':
      writer.varint(event.redrive);
      writer.name(event.namespace);
      writer.name(event.taskType);
      return writer.varint(event.ratePer1000Sec);
    case 'redrive_ended':
      return writer.varint(event.redrive);
    case 'leases_skipped':
      return writer.varint(event.next);
    default:
      unreachable(event);
  }
}

/** Texts that most tasks leave empty. The bit of each says whether it follows. */
const TEXTS = ['shape', 'retry', 'timeouts', 'tags', 'callback', 'parent'] as const;

function encodeDetails(writer: RecordWriter, event: TaskDetails): void {
  writer.name(event.taskType);
  writer.byte(event.priority);
  let stated = 0;
  for (let i = 0; i < TEXTS.length; i++) if (event[TEXTS[i]] !== '') stated |= 1 << i;
  writer.byte(stated);
  for (let i = 0; stated >>> i !== 0; i++) {
    if (((stated >>> i) & 1) === 1) writer.name(event[TEXTS[i]]);
  }
  writer.payload(event.input);
}

/** Decodes one event after the other into the same objects; each is valid until the next call. */
export class EventDecoder {
  /** The object of each type, by its number. */
  private readonly byType: (Event | undefined)[] = [];

  constructor() {
    for (const event of Object.values(makeEvents())) this.byType[TYPE[event.type]] = event;
  }

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
    const event = this.byType[type];
    if (event === undefined) throw new UnknownEventError(type, version);
    return event;
  }
}

function decodeFields(reader: RecordReader, event: Event): void {
  switch (event.type) {
    case 'task_submitted':
      event.runAt = reader.varint();
      reader.claim(event.dedupe);
      return decodeDetails(reader, event);
    case 'attempt_leased':
      event.lease = reader.varint() as LeaseNumber;
      event.session = reader.name() as SessionId;
      event.worker = reader.name();
      event.leaseMs = reader.varint();
      event.resume = reader.varint();
      return;
    case 'attempt_succeeded':
      event.startedAt = reader.varint();
      return reader.payload(event.output);
    case 'attempt_deferred':
      event.startedAt = reader.varint();
      return;
    case 'attempt_failed':
      event.startedAt = reader.varint();
      event.answer = reader.byte();
      event.retryAt = reader.varint();
      return reader.payload(event.error);
    case 'attempt_returned':
      event.reason = reader.byte();
      event.spent = reader.byte() === 1;
      return;
    case 'attempts_exhausted':
      event.reason = reader.byte();
      return;
    case 'attempt_stopping':
      event.reason = reader.byte();
      event.stopAt = reader.varint();
      return;
    case 'attempt_timed_out':
      event.startedAt = reader.varint();
      event.reason = reader.byte();
      event.answer = reader.byte();
      event.retryAt = reader.varint();
      return reader.payload(event.error);
    case 'state_hashed':
      event.schema = reader.varint();
      event.hash = reader.varint();
      return;
    case 'attempt_started':
    case 'dedupe_forgotten':
    case 'task_due':
    case 'task_forgotten':
    case 'task_paused':
    case 'task_resumed':
      return;
    default:
      if (isCallbackEvent(event)) return decodeCallback(reader, event);
      return isAccessEvent(event) ? decodeAccess(reader, event) : decodeOther(reader, event);
  }
}

function decodeOther(reader: RecordReader, event: OtherEvent): void {
  switch (event.type) {
    case 'task_readmitted':
      event.submittedAt = reader.varint();
      event.dedupe = reader.varint();
      return decodeDetails(reader, event);
    case 'task_ended':
      event.startedAt = reader.varint();
      event.state = reader.byte();
      event.reason = reader.byte();
      event.answer = reader.byte();
      event.key = reader.varint();
      event.hasPayload = reader.byte() === 1;
      return reader.payload(event.payload);
    case 'task_patched':
      event.fields = reader.byte();
      event.priority = reader.byte();
      event.runAt = reader.varint();
      event.timeouts = reader.name();
      event.tags = reader.name();
      return reader.payload(event.input);
    case 'task_retried':
      event.redrive = reader.varint();
      return;
    case 'dead_letter_dropped':
      event.isOverflow = reader.byte() === 1;
      return;
    case 'queue_changed':
      event.taskType = reader.name();
      event.paused = reader.byte() === 1;
      return;
    case 'task_type_changed':
      event.taskType = reader.name();
      event.definition = reader.name();
      return;
    case 'redrive_started':
      event.redrive = reader.varint();
      event.namespace = reader.name();
      event.taskType = reader.name();
      event.ratePer1000Sec = reader.varint();
      return;
    case 'redrive_ended':
      event.redrive = reader.varint();
      return;
    case 'leases_skipped':
      event.next = reader.varint() as LeaseNumber;
      return;
    default:
      unreachable(event);
  }
}

function decodeDetails(reader: RecordReader, event: TaskDetails): void {
  event.taskType = reader.name();
  event.priority = reader.byte();
  const stated = reader.byte();
  for (let i = 0; i < TEXTS.length; i++) {
    event[TEXTS[i]] = ((stated >>> i) & 1) === 1 ? reader.name() : '';
  }
  reader.payload(event.input);
}
