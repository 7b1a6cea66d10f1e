import type { Given, GivenFields, Step } from './reference.ts';
import type { Scope } from './scope.ts';
import { addStep, fieldsJson, named } from './step-json.ts';
import { optionsJson, type StepOptions, stated } from './step-options.ts';

/** A request that the server sends. */
export interface HttpStepRequest {
  readonly uri: Given<string>;
  /** Default GET. */
  readonly method?: Given<string>;
  readonly headers?: GivenFields<unknown>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Milliseconds to connect (10,000) and to answer (30,000). */
  readonly connectionTimeOut?: number;
  readonly readTimeOut?: number;
}

/** The answer to the request of a step. */
export interface HttpStepOutput<Body = unknown> {
  readonly response: {
    readonly statusCode: number;
    readonly reasonPhrase: string;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    readonly body: Body;
  };
}

interface HttpStep {
  readonly name: string;
  readonly request: HttpStepRequest;
  readonly options: StepOptions;
}

const TYPE = 'sluice:http';

/** HTTP. */
export function addHttp<Output>(scope: Scope, { name, request, options }: HttpStep): Step<Output> {
  const given = { http_request: stated(request) };
  return addStep(scope, {
    ...named(name, 'HTTP'),
    inputParameters: fieldsJson(scope, given, `the request of '${name}'`),
    ...optionsJson(scope, TYPE, { name, options }),
  });
}
