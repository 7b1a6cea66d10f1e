import { CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import {
  AuditView,
  KeyParams,
  KeyRequest,
  KeyView,
  NewKeyView,
} from '../schemas/access-schemas.ts';
import { ListQuery, pageOf } from '../schemas/task-operation-schemas.ts';

/** Calls about access keys and the audit trail. */
export const ACCESS_ROUTES = {
  createKey: {
    method: 'POST',
    path: '/v1/keys',
    access: 'administer',
    summary: 'Create a key, or the successor of another; it is shown only once',
    description:
      'Once there is a key, every call needs one, so the first key must be an admin key of the ' +
      'namespace default. Its admins create keys for every namespace, other admins for their own.',
    body: KeyRequest,
    answers: { 201: NewKeyView },
    errors: [...CHANGE_ERRORS, 'key_not_found'],
  },
  listKeys: {
    method: 'GET',
    path: '/v1/keys',
    access: 'administer',
    summary: 'List the keys, oldest first, without their secret text',
    query: ListQuery,
    answers: { 200: pageOf(KeyView) },
    errors: READ_ERRORS,
  },
  revokeKey: {
    method: 'DELETE',
    path: '/v1/keys/{id}',
    access: 'administer',
    summary: 'Revoke a key immediately, and close its streams',
    params: KeyParams,
    answers: { 204: 'none' },
    errors: [...READ_ERRORS, 'key_not_found', 'last_admin_key'],
  },
  listAudit: {
    method: 'GET',
    path: '/v1/audit',
    access: 'administer',
    summary: 'List audit records, newest first',
    query: ListQuery,
    answers: { 200: pageOf(AuditView) },
    errors: READ_ERRORS,
  },
} as const satisfies Record<string, Route>;
