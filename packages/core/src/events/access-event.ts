import type { Slot, TaskNumber } from '../base/ids.ts';

/** Events about who may do what, and who did. They are about no task: slot and task are 0. */
interface AboutNoTask {
  slot: Slot;
  task: TaskNumber;
}

/** From here on whoever has the text behind this hash may act in the namespace. */
interface AccessKeyCreated extends AboutNoTask {
  readonly type: 'access_key_created';
  key: string;
  namespace: string;
  role: string;
  name: string;
  /** Of the key's text, which nobody but its holder has. */
  hash: string;
  /** 0 for never. */
  expiresAt: number;
}

/** A key that another one replaces works for a while longer. */
interface AccessKeyExpirySet extends AboutNoTask {
  readonly type: 'access_key_expiry_set';
  key: string;
  expiresAt: number;
}

interface AccessKeyRevoked extends AboutNoTask {
  readonly type: 'access_key_revoked';
  key: string;
}

/** Somebody changed something that concerns others. Its time is that of its record. */
export interface AuditRecorded extends AboutNoTask {
  readonly type: 'audit_recorded';
  /** Where the change was made. */
  namespace: string;
  /** Id of the key, or a word for whoever needed none. */
  actor: string;
  /** Where the request came from. */
  address: string;
  request: string;
  action: string;
  subject: string;
  detail: string;
}

export type AccessEvent = AccessKeyCreated | AccessKeyExpirySet | AccessKeyRevoked | AuditRecorded;

export function makeAccessEvents() {
  const noTask = { slot: 0 as Slot, task: 0 as TaskNumber };
  return {
    accessKeyCreated: {
      type: 'access_key_created',
      ...noTask,
      key: '',
      namespace: '',
      role: '',
      name: '',
      hash: '',
      expiresAt: 0,
    } as AccessKeyCreated,
    accessKeyExpirySet: {
      type: 'access_key_expiry_set',
      ...noTask,
      key: '',
      expiresAt: 0,
    } as AccessKeyExpirySet,
    accessKeyRevoked: { type: 'access_key_revoked', ...noTask, key: '' } as AccessKeyRevoked,
    auditRecorded: {
      type: 'audit_recorded',
      ...noTask,
      namespace: '',
      actor: '',
      address: '',
      request: '',
      action: '',
      subject: '',
      detail: '',
    } as AuditRecorded,
  };
}
