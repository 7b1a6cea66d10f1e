import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';

/** An operator takes a backup. Only the audit trail changes. */
export interface RecordBackup {
  readonly type: 'record_backup';
  readonly now: number;
  readonly namespace: string;
  readonly by?: Author;
}

export function decideRecordBackup(decision: Decision, { namespace, by }: RecordBackup): void {
  audit(decision, by, { namespace, action: 'backup_taken' });
}
