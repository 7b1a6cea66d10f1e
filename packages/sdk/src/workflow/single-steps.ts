import type { Given, Step } from './reference.ts';
import type { Scope } from './scope.ts';
import { addStep, fieldsJson, named, scriptOf } from './step-json.ts';
import { stated } from './step-options.ts';

/** How a run ends early. */
export interface Termination {
  /** Default `succeeded`. */
  readonly status?: 'succeeded' | 'failed' | 'cancelled';
  readonly reason?: Given<string>;
  /** The output of the run. */
  readonly output?: unknown;
}

const STATUSES = { succeeded: 'COMPLETED', failed: 'FAILED', cancelled: 'TERMINATED' } as const;

export function addTerminate(scope: Scope, name: string, how: Termination): void {
  const { status = 'succeeded', reason, output } = how;
  const user = `the end by '${name}'`;
  if (!Object.hasOwn(STATUSES, status)) {
    const known = Object.keys(STATUSES).join(', ');
    throw scope.draft.error(`${user} has the status '${status}'; use one of ${known}`);
  }
  const inputs = {
    terminationStatus: STATUSES[status],
    terminationReason: reason,
    workflowOutput: output,
  };
  const inputParameters = fieldsJson(scope, stated(inputs), user);
  addStep(scope, { ...named(name, 'TERMINATE'), inputParameters });
}

/** Where an event goes that is not for the stream of events. */
export interface EventReceiver {
  /** The address that is called. */
  readonly webhook: string;
}

/** What an EVENT gives. */
export type EventOutput<Payload> = Payload & {
  readonly workflowInstanceId: string;
  readonly workflowType: string;
  readonly workflowVersion: number;
  readonly correlationId: string | null;
  /** The name of the event. */
  readonly event_produced: string;
};

interface PublishedStep {
  readonly name: string;
  readonly to: string | EventReceiver;
  readonly payload: object;
}

/** EVENT. */
export function addEvent<Output>(scope: Scope, { name, to, payload }: PublishedStep): Step<Output> {
  const sink = typeof to === 'string' ? `sluice:${to}` : `webhook:${to.webhook}`;
  const inputParameters = fieldsJson(scope, payload, `the payload of '${name}'`);
  return addStep(scope, { ...named(name, 'EVENT'), sink, inputParameters });
}

/** What a WAIT waits for; without any of them, for a call that completes the step. */
export interface WaitFor {
  /** Whole seconds. */
  readonly seconds?: Given<number>;
  /** A time such as `2030-01-31 08:00 UTC`. */
  readonly until?: Given<string>;
}

export function addWait<Output>(
  scope: Scope,
  name: string,
  { seconds, until }: WaitFor,
): Step<Output> {
  if (seconds !== undefined && until !== undefined) {
    throw scope.draft.error(`'${name}' has both seconds and until; use one of them`);
  }
  if (typeof seconds === 'number' && !(Number.isInteger(seconds) && seconds >= 0)) {
    throw scope.draft.error(`'${name}' waits for ${seconds} seconds; use a whole number from 0 on`);
  }
  const duration = seconds === undefined ? undefined : `${String(seconds)} seconds`;
  const inputs = stated({ duration, until });
  const inputParameters = fieldsJson(scope, inputs, `the time of '${name}'`);
  return addStep(scope, { ...named(name, 'WAIT'), inputParameters });
}

interface Script {
  readonly name: string;
  readonly expression: string;
  readonly input: object;
}

/** INLINE. The server takes the script as it is, so nothing in it is escaped. */
export function addInline<Output>(scope: Scope, { name, expression, input }: Script): Step<Output> {
  const user = `the input of '${name}'`;
  const own = { evaluatorType: 'javascript', expression: scriptOf(scope, expression, name) };
  const given = fieldsJson(scope, input, user);
  const taken = Object.keys(own).find((field) => field in given);
  if (taken !== undefined) throw scope.draft.error(`${user} cannot have the field '${taken}'`);
  return addStep(scope, { ...named(name, 'INLINE'), inputParameters: { ...given, ...own } });
}
