import { BODY_ERRORS, type Route } from '../base/route.ts';
import {
  ReportsReply,
  ReportsRequest,
  SessionParams,
  WorkerSessionRequest,
} from '../schemas/worker-schemas.ts';

export const WORKER_ROUTES = {
  openWorkerSession: {
    method: 'POST',
    path: '/v1/worker-sessions',
    access: 'work',
    summary: 'Register a worker; the answer is a stream on which tasks arrive',
    description:
      'Events with one line of JSON each: ' +
      'welcome {sessionId, heartbeatMs, leaseMs, pingMs, resumed, lost}, ' +
      'tasks [{id, type, attempt, lease, input or inputBlob, runTimeoutMs?, heartbeatTimeoutMs?, ' +
      'tags?}], ' +
      'cancel {id, lease, graceMs, reason}, signal {id, lease, name, data}, ' +
      'ping {}, drain {} (connect again with resume).',
    body: WorkerSessionRequest,
    answers: { 200: 'text/event-stream' },
    errors: [
      ...BODY_ERRORS,
      'session_not_found',
      'resume_outdated',
      'overloaded',
      'quota_exceeded',
    ],
  },
  reportAttempts: {
    method: 'POST',
    path: '/v1/worker-sessions/{sessionId}/reports',
    repeatable: true,
    access: 'work',
    summary: 'Report on attempts; any call renews all leases of the session',
    params: SessionParams,
    body: ReportsRequest,
    isBodyOptional: true,
    answers: { 200: ReportsReply },
    errors: [...BODY_ERRORS, 'session_not_found', 'blob_not_found', 'overloaded'],
  },
  closeWorkerSession: {
    method: 'DELETE',
    path: '/v1/worker-sessions/{sessionId}',
    access: 'work',
    summary: 'Hand back all tasks of the session, and close it',
    params: SessionParams,
    answers: { 204: 'none' },
    errors: ['session_not_found', 'unavailable'],
  },
} as const satisfies Record<string, Route>;
