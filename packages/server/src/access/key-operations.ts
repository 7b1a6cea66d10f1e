import {
  type AccessKey,
  type AuditRecord,
  type Author,
  type CreateAccessKey,
  type CreateAccessKeyReply,
  DEFAULT_NAMESPACE,
  hasExpired,
  isOver,
  type ReadonlyState,
  type RevokeAccessKey,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type AuditQuery,
  type ErrorDetail,
  type KeyRequest,
  LIMITS,
  ROLES,
  type Role,
  SluiceError,
} from '@sluice/protocol';
import { badCursor, cursorText, type PageRequest, pageJson, placedPage } from '../answers/pages.ts';
import { timeText } from '../base/time-text.ts';
import { invalid } from '../base/validation.ts';
import { type Admission, overloaded } from '../limits/admission.ts';
import { rolesOf } from './authenticator.ts';
import { type NewKey, withoutKeys } from './key-text.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly clock: () => number;
  /** When a key was last used, if it was used since the start. */
  readonly lastUsedAt: (id: string) => number | undefined;
  /** Whether a caller may still call. */
  readonly isLive: (actor: string) => boolean;
}

/** Keys and the audit record, as admins see them. */
export class KeyOperations {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Returns the new key with its text. The text is never shown again. */
  create(namespace: string, request: KeyRequest, key: NewKey, by: Author): Promise<object> {
    const command = createCommand(namespace, request, key);
    const { engine, admission, isLive } = this.parts;
    admission.command(command.type);
    // Checked in the same turn in which the key is created (access.live-creator).
    if (!isLive(by.actor)) throw keyEnded();
    return engine.execute<CreateAccessKey, object>({ ...command, by }, ({ rejection }, state) => {
      if (rejection !== undefined) throw creationRefused(rejection, request);
      const made = state.accessKeys.get(key.id);
      return { key: key.text, ...(made === undefined ? {} : this.view(made, state)) };
    });
  }

  async revoke(namespace: string, id: string, by: Author): Promise<void> {
    const type = 'revoke_access_key';
    const { engine, admission, isLive } = this.parts;
    admission.command(type);
    if (!isLive(by.actor)) throw keyEnded();
    const command = { type, namespace, id, by } as const;
    await engine.execute<RevokeAccessKey, void>(command, ({ rejection }) => {
      if (rejection !== undefined) throw revocationRefused(rejection, id);
    });
  }

  /** A page of the keys in namespaces that this namespace governs, as JSON text. */
  list(namespace: string, page: PageRequest): Promise<string> {
    this.parts.admission.read();
    return this.parts.engine.read((state) => {
      const keys = [...state.accessKeys.values()]
        .filter((key) => isOver(namespace, key.namespace))
        .map((key) => ({ key, place: key.id }));
      return placedPage(keys, page, { show: ({ key }) => this.view(key, state), now: state.now });
    });
  }

  /**
   * A page of the changes in namespaces that this namespace governs, newest first, as JSON text.
   */
  audit(
    namespace: string,
    { limit = LIMITS.pageDefault, cursor, action, actor }: AuditQuery,
  ): Promise<string> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : parseNumber(cursor);
    this.parts.admission.read();
    return this.parts.engine.read((state) => {
      const items: string[] = [];
      let last: AuditRecord | undefined;
      let isMore = false;
      for (const record of state.audit.before(before)) {
        if (!isOver(namespace, record.namespace)) continue;
        if (action !== undefined && record.action !== action) continue;
        if (actor !== undefined && record.actor !== actor) continue;
        isMore = items.length === limit;
        if (isMore) break;
        items.push(JSON.stringify(viewOfRecord(record)));
        last = record;
      }
      const next = isMore ? String(last?.number) : undefined;
      return pageJson(items, next, { asOf: state.now, lagMs: 0 });
    });
  }

  private view(key: AccessKey, { now }: ReadonlyState): object {
    const lastUsedAt = this.parts.lastUsedAt(key.id);
    return viewOfKey(key, { now: Math.max(now, this.parts.clock()), lastUsedAt });
  }
}

interface KeyMoment {
  readonly now: number;
  readonly lastUsedAt?: number | undefined;
}

export function viewOfKey(key: AccessKey, { now, lastUsedAt }: KeyMoment): object {
  const { id, namespace, name, createdAt, expiresAt } = key;
  return {
    id,
    namespace,
    roles: rolesOf(key),
    name,
    createdAt: timeText(createdAt),
    expiresAt: expiresAt === 0 ? null : timeText(expiresAt),
    expired: hasExpired(key, now),
    lastUsedAt: lastUsedAt === undefined ? null : timeText(lastUsedAt),
  };
}

/** The command that a request for a key means; throws when the request is contradictory. */
export function createCommand(
  namespace: string,
  request: KeyRequest,
  { id, hash }: NewKey,
): Omit<CreateAccessKey, 'now'> {
  const { name, replaces, overlapMs, expiresInMs } = request;
  const problems = requestProblems(request);
  if (problems.length > 0) throw invalid('the key is not valid', problems);
  const key =
    replaces === undefined
      ? {
          namespace: request.namespace ?? namespace,
          role: requestedRoles(request).join(),
          name: name ?? '',
        }
      : { replaces, overlapMs: overlapMs ?? LIMITS.keyOverlapMsDefault };
  const expiry = expiresInMs === undefined ? {} : { expiresInMs };
  return { type: 'create_access_key', namespace, id, hash, key, ...expiry };
}

function requestProblems(request: KeyRequest): ErrorDetail[] {
  if (request.replaces === undefined) {
    const { role, roles } = request;
    if (role === undefined && roles === undefined) {
      return [{ path: '/roles', problem: 'is required' }];
    }
    if (role !== undefined && roles !== undefined) {
      return [{ path: '/roles', problem: "cannot be combined with 'role'" }];
    }
    if (request.overlapMs === undefined) return [];
    return [{ path: '/overlapMs', problem: "goes with 'replaces' alone" }];
  }
  const fields = ['role', 'roles', 'namespace', 'name'] as const;
  return fields
    .filter((field) => request[field] !== undefined)
    .map((field) => ({ path: `/${field}`, problem: 'is taken from the old key: leave it out' }));
}

/** In the order of the list, so that equal sets of roles are equal texts. */
export function requestedRoles({ role, roles = [] }: KeyRequest): readonly Role[] {
  const requested: readonly unknown[] = [role, ...roles];
  return ROLES.filter((each) => requested.includes(each));
}

type CreationRejection = NonNullable<CreateAccessKeyReply['rejection']>;

export function creationRefused(rejection: CreationRejection, request: KeyRequest): Error {
  switch (rejection) {
    case 'access_key_not_found':
      return keyNotFound(request.replaces ?? '');
    case 'foreign_namespace':
      return new SluiceError(
        'forbidden',
        `only an admin of '${DEFAULT_NAMESPACE}' can create keys for other namespaces`,
      );
    case 'first_key': {
      const problem =
        `the first key must be an admin key of '${DEFAULT_NAMESPACE}': from then on every ` +
        'call needs a key, and only such a key can create others';
      return invalid('the key is not valid', [{ path: '/roles', problem }]);
    }
    case 'too_many_access_keys':
      return overloaded('there are too many keys; revoke those that expired');
    case 'access_key_known':
      return new SluiceError('internal_error', 'a key with this id already exists');
  }
}

function revocationRefused(
  rejection: 'access_key_not_found' | 'last_admin_key',
  id: string,
): SluiceError {
  if (rejection === 'access_key_not_found') return keyNotFound(id);
  return new SluiceError(
    'last_admin_key',
    `'${id}' is the last key of an admin of '${DEFAULT_NAMESPACE}': make another one first`,
  );
}

function keyEnded(): SluiceError {
  return new SluiceError('unauthenticated', 'the key expired or was revoked during the request');
}

function keyNotFound(id: string): SluiceError {
  return new SluiceError('key_not_found', `no key has the id '${withoutKeys(id)}'`);
}

function viewOfRecord({ number, at, request, ...record }: AuditRecord): object {
  return { id: `a_${number}`, at: timeText(at), ...record, requestId: request };
}

function parseNumber(cursor: string): number {
  const [number] = /^\d{1,15}$/.exec(cursorText(cursor)) ?? [];
  if (number === undefined) throw badCursor();
  return Number(number);
}
