import type { Given, Step } from './reference.ts';
import type { Scope } from './scope.ts';
import { addStep, fieldsJson, named } from './step-json.ts';
import { stated } from './step-options.ts';

/** Where a callback of a step goes. */
export interface CallbackTarget {
  readonly url: Given<string>;
  /** Signs the message: `whsec_` and base64. Default: the secret of the server. */
  readonly secret?: Given<string>;
  /** The step ends when the callback is delivered, and fails when it is given up. */
  readonly wait?: boolean;
}

interface CallbackStep {
  readonly name: string;
  readonly to: CallbackTarget;
  readonly data: object;
}

/** CALLBACK. */
export function addCallback(scope: Scope, { name, to, data }: CallbackStep): Step<null> {
  return addStep(scope, {
    ...named(name, 'CALLBACK'),
    callback: fieldsJson(scope, stated(to), `the callback of '${name}'`),
    inputParameters: fieldsJson(scope, data, `the data of '${name}'`),
  });
}
