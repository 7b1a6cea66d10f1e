import type { ErrorDetail } from '@sluice/protocol';

/** ISO 8601 with a zone: without one the same text would mean another time on another machine. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Requests give times as text or as milliseconds; schemas cannot tell a good text from a bad. */
export function timeProblems(value: string | number | undefined, path: string): ErrorDetail[] {
  if (typeof value !== 'string') return [];
  if (TIME.test(value) && Date.parse(value) >= 0) return [];
  return [{ path, problem: 'must be a time such as 2030-01-01T00:00:00.000Z' }];
}
