import { CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import {
  AuditView,
  KeyParams,
  KeyRequest,
  KeyView,
  NewKeyView,
} from '../schemas/access-schemas.ts';
import { ListQuery, pageOf } from '../schemas/task-operation-schemas.ts';

/** Calls about who may do what, and who did. */
export const ACCESS_ROUTES = {
  createKey: {
    method: 'POST',
    path: '/v1/keys',
    access: 'administer',
    summary: 'Make a key, or one that takes the place of another; it is shown this once',
    description:
      'From the first key on every call needs one, so the first has to be that of an admin of ' +
      'the default namespace. Such an admin makes keys for every namespace, any other for his own.',
    body: KeyRequest,
    answers: { 201: NewKeyView },
    errors: [...CHANGE_ERRORS, 'key_not_found'],
  },
  listKeys: {
    method: 'GET',
    path: '/v1/keys',
    access: 'administer',
    summary: 'List the keys, oldest first: whose they are, and not what they are',
    query: ListQuery,
    answers: { 200: pageOf(KeyView) },
    errors: READ_ERRORS,
  },
  revokeKey: {
    method: 'DELETE',
    path: '/v1/keys/{id}',
    access: 'administer',
    summary: 'Revoke a key: it is worth nothing from then on, and its streams are cut',
    params: KeyParams,
    answers: { 204: 'none' },
    errors: [...READ_ERRORS, 'key_not_found', 'last_admin_key'],
  },
  listAudit: {
    method: 'GET',
    path: '/v1/audit',
    access: 'administer',
    summary: 'List who changed what that concerns others, newest first',
    query: ListQuery,
    answers: { 200: pageOf(AuditView) },
    errors: READ_ERRORS,
  },
} as const satisfies Record<string, Route>;
