import { DEFAULT_NAMESPACE } from '@sluice/core';
import { type Engine, EngineStoppedError } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';
import type { Admission, Gateway } from '@sluice/server';
import type { CallAnswer } from '../network/call.ts';
import type { ServerExchange } from '../network/server-exchange.ts';
import { commandOf, type Operation, type OperationCommand, renderReply } from './operations.ts';
import { RunRequests } from './run-requests.ts';
import { ScheduleRequests } from './schedule-requests.ts';

export interface RequestParts {
  readonly runs: RunRequests;
  readonly schedules: ScheduleRequests;
  readonly engine: Engine;
  readonly gateway: Gateway;
  readonly admission: Admission;
}

/** Everything that requests need. */
export function requestsOf(
  parts: Pick<RequestParts, 'engine' | 'gateway' | 'admission'> & { readonly clock: () => number },
): RequestParts {
  const { clock, ...others } = parts;
  return { ...others, runs: new RunRequests(parts), schedules: new ScheduleRequests(parts) };
}

export type Answer = CallAnswer;

/**
 * Whether the answer can depend on the state. A request that was refused at admission, or by the
 * clock alone, cannot.
 */
export function hasSeenState({ status, body }: Answer): boolean {
  const isEarly = body.includes('"overloaded"') || body.includes('the backfill is not valid');
  return status < 500 && !isEarly;
}

/** Executes a request; undefined when its answer is a stream, which is open by now. */
export async function carryOut(
  parts: RequestParts,
  exchange: ServerExchange,
): Promise<Answer | undefined> {
  try {
    return await dispatch(parts, exchange);
  } catch (cause) {
    return errorAnswer(cause);
  }
}

async function dispatch(
  { engine, gateway, admission, runs, schedules }: RequestParts,
  exchange: ServerExchange,
): Promise<Answer | undefined> {
  const { method, path, body, requestKey } = exchange.request;
  const value: unknown = body === '' ? undefined : JSON.parse(body);
  const [, , collection, id] = path.split('/');
  if (collection === 'tasks') {
    if (method === 'GET') return { status: 200, body: await gateway.get(DEFAULT_NAMESPACE, id) };
    const given = requestKey && { ...requestKey, body: Buffer.from(body) };
    const { isNew, json, key } = await gateway.submit(DEFAULT_NAMESPACE, value, { key: given });
    const status = isNew ? 201 : 200;
    return { status, body: json.toString(), ...(key === undefined ? {} : { requestKey: key }) };
  }
  if (collection === 'runs' || collection === 'workflows') {
    return runs.dispatch(method, path, value);
  }
  if (collection === 'schedules') return schedules.dispatch(method, path, value);
  if (collection === 'worker-sessions') {
    if (method === 'DELETE') {
      await gateway.detach(DEFAULT_NAMESPACE, id);
      return { status: 204, body: '' };
    }
    if (id !== undefined) {
      return { status: 200, body: await gateway.report(DEFAULT_NAMESPACE, id, value) };
    }
    await gateway.attach(DEFAULT_NAMESPACE, value, () => exchange);
    return undefined;
  }
  const command = commandOf(value as Operation);
  admission.command(command.type);
  return {
    status: 200,
    body: await engine.execute<OperationCommand, string>(command, renderReply),
  };
}

function errorAnswer(cause: unknown): Answer {
  const error = cause instanceof EngineStoppedError ? stopping(cause) : cause;
  // No request may cause any other kind of error.
  if (!(error instanceof SluiceError)) throw cause;
  const { status, code, message, details, retryAfterMs } = error;
  return { status, body: JSON.stringify({ error: { code, message, details, retryAfterMs } }) };
}

function stopping(cause: Error): SluiceError {
  return new SluiceError('unavailable', 'the server is stopping; try again', { cause });
}
