import type { AttachSession, SessionId } from '@sluice/core';
import { checkResources, type ErrorDetail, LIMITS, WorkerSessionRequest } from '@sluice/protocol';
import { CORE_RULES, checkLabels } from '../base/core-rules.ts';
import { Checker, invalid } from '../base/validation.ts';

type Attach = Omit<AttachSession, 'now'>;

const NOT_VALID = 'the worker session is not valid';

/** Validates a worker's session request and turns it into a command. */
export class SessionParser {
  private readonly request = new Checker(WorkerSessionRequest);

  parse(namespace: string, body: unknown, newSession: SessionId): Attach {
    return { ...attachCommand(this.request.parse(body, NOT_VALID)), namespace, newSession };
  }
}

function attachCommand(body: WorkerSessionRequest): Omit<Attach, 'namespace' | 'newSession'> {
  const { types, capacity = {}, labels = {}, resume } = body;
  const problems = repeatedTypes(types);
  checkResources(capacity, '/capacity', problems, CORE_RULES);
  checkLabels(labels, '/labels', problems);
  if (problems.length > 0) throw invalid(NOT_VALID, problems);
  return {
    type: 'attach_session',
    // The log holds UTF-8, which has no lone surrogates.
    worker: body.name.toWellFormed(),
    version: body.version ?? '',
    types,
    capacity: { slots: LIMITS.slotsDefault, ...capacity },
    labels: new Map(Object.entries(labels)),
    leaseMs: body.leaseMs ?? LIMITS.leaseMsDefault,
    ...(resume === undefined ? {} : { resume: resumed(resume) }),
  };
}

/** A type that is listed twice. */
export function repeatedTypes(types: WorkerSessionRequest['types']): ErrorDetail[] {
  const names = types.map(({ type }) => type);
  const twice = names.findIndex((type, index) => names.indexOf(type) !== index);
  if (twice < 0) return [];
  return [{ path: `/types/${twice}/type`, problem: `'${names[twice]}' is listed twice` }];
}

type Resume = NonNullable<WorkerSessionRequest['resume']>;

function resumed({ sessionId, ...rest }: Resume): NonNullable<AttachSession['resume']> {
  return { session: sessionId as SessionId, ...rest };
}
