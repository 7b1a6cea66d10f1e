/**
 * Every code that an error answer can carry, with its HTTP status. Each has a page in docs/errors.
 * Clients rely on the codes; a code never changes its meaning.
 */
export const ERROR_CODES = {
  invalid_request: { status: 400 },
  blob_hash_mismatch: { status: 400 },
  unauthenticated: { status: 401 },
  forbidden: { status: 403 },
  forbidden_origin: { status: 403 },
  route_not_found: { status: 404 },
  task_not_found: { status: 404 },
  task_type_not_found: { status: 404 },
  session_not_found: { status: 404 },
  worker_not_found: { status: 404 },
  redrive_not_found: { status: 404 },
  key_not_found: { status: 404 },
  blob_not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  request_timeout: { status: 408 },
  dedupe_mismatch: { status: 409 },
  task_running: { status: 409 },
  task_finished: { status: 409 },
  task_not_finished: { status: 409 },
  task_not_leased: { status: 409 },
  worker_unreachable: { status: 409 },
  resume_outdated: { status: 409 },
  last_admin_key: { status: 409 },
  payload_too_large: { status: 413 },
  unsupported_encoding: { status: 415 },
  expectation_failed: { status: 417 },
  overloaded: { status: 429 },
  quota_exceeded: { status: 429 },
  too_many_failures: { status: 429 },
  headers_too_large: { status: 431 },
  internal_error: { status: 500 },
  unavailable: { status: 503 },
  disk_full: { status: 507 },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
