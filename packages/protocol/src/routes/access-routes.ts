import { BODY_ERRORS, CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import {
  AuditQuery,
  AuditView,
  CallerView,
  KeyParams,
  KeyRequest,
  KeyView,
  LoginRequest,
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
  getCaller: {
    method: 'GET',
    path: '/v1/login',
    access: 'self',
    summary: 'Say whose key the request has, and what it allows',
    answers: { 200: CallerView },
    errors: READ_ERRORS,
  },
  logIn: {
    method: 'POST',
    path: '/v1/login',
    repeatable: true,
    access: 'open',
    summary: 'Keep a key in a cookie of the browser, for the console',
    description:
      'Scripts cannot read the cookie, and it counts only for requests of pages of this server. ' +
      'Clients that are no browsers send the key as Authorization.',
    body: LoginRequest,
    answers: { 200: CallerView },
    errors: [...BODY_ERRORS, 'unauthenticated', 'too_many_failures'],
  },
  logOut: {
    method: 'DELETE',
    path: '/v1/login',
    repeatable: true,
    access: 'open',
    summary: 'Remove the cookie with the key',
    answers: { 204: 'none' },
    errors: ['invalid_request'],
  },
  listAudit: {
    method: 'GET',
    path: '/v1/audit',
    access: 'administer',
    summary: 'List audit records, newest first',
    query: AuditQuery,
    answers: { 200: pageOf(AuditView) },
    errors: READ_ERRORS,
  },
} as const satisfies Record<string, Route>;
