import type { EventOf } from '../../events/events.ts';
import type { Archive } from '../../structures/archive.ts';

/** One administrative change. */
export interface AuditRecord
  extends Readonly<Omit<EventOf<'audit_recorded'>, 'type' | 'slot' | 'task'>> {
  /** Counts up from 1. */
  readonly number: number;
  readonly at: number;
}

/** Read-only view for code outside `apply`. */
export interface AuditTrailReader {
  /** The number of the next record. */
  readonly next: number;
  /** Records before this number, newest first. */
  before(number: number): Iterable<AuditRecord>;
}

/**
 * Maximum number of records in memory and snapshots. Older ones remain in the log until it is
 * trimmed.
 */
export const AUDIT_RECORDS_MAX = 10_000;

/** The latest changes and their authors. */
export class AuditTrail implements AuditTrailReader {
  next = 1;
  /** Record n is at n modulo the size, so that the newest record replaces the oldest. */
  private readonly records: AuditRecord[] = [];

  *before(number: number): Iterable<AuditRecord> {
    const oldest = Math.max(1, this.next - AUDIT_RECORDS_MAX);
    for (let each = Math.min(number, this.next) - 1; each >= oldest; each--) {
      yield this.records[each % AUDIT_RECORDS_MAX];
    }
  }

  add(at: number, event: EventOf<'audit_recorded'>): void {
    const { namespace, actor, address, request, action, subject, detail } = event;
    const texts = { namespace, actor, address, request, action, subject, detail };
    this.records[this.next % AUDIT_RECORDS_MAX] = { number: this.next, at, ...texts };
    this.next += 1;
  }

  persist(archive: Archive): void {
    const oldestFirst = [...this.before(this.next)].reverse();
    this.next = archive.number('next', this.next);
    const times = archive.numbers(
      'times',
      oldestFirst.map(({ at }) => at),
    );
    const texts = archive.texts(
      'texts',
      oldestFirst.flatMap((record) => FIELDS.map((field) => record[field])),
    );
    if (!archive.isLoading) return;
    const first = this.next - times.length;
    times.forEach((at, place) => {
      const values = FIELDS.map((field, index) => [field, texts[place * FIELDS.length + index]]);
      const number = first + place;
      const record = { number, at, ...Object.fromEntries(values) } as AuditRecord;
      this.records[number % AUDIT_RECORDS_MAX] = record;
    });
  }
}

const FIELDS = [
  'namespace',
  'actor',
  'address',
  'request',
  'action',
  'subject',
  'detail',
] as const satisfies readonly (keyof AuditRecord)[];
