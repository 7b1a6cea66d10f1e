import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';

/** Somebody takes a copy of everything. It changes nothing but the record of changes. */
export interface RecordBackup {
  readonly type: 'record_backup';
  readonly now: number;
  readonly namespace: string;
  readonly by?: Author;
}

export function decideRecordBackup(decision: Decision, { namespace, by }: RecordBackup): void {
  audit(decision, by, { namespace, action: 'backup_taken' });
}
