import { defineTask, type TaskDefinition } from '../../task/define-task.ts';
import { Later, PermanentFailure } from '../../task/failures.ts';
import type { HttpStepOutput } from '../../workflow/http-step.ts';

/** A request of `w.http`, as a mock sees it. */
export interface MockedRequest {
  readonly uri: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Null without one. */
  readonly body: unknown;
}

/** What a mock answers. */
export interface MockedAnswer {
  /** Default 200. */
  readonly statusCode?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

interface HttpInput {
  readonly http_request: {
    readonly uri: string;
    readonly method?: string | null;
    readonly headers?: Readonly<Record<string, unknown>> | null;
    readonly body?: unknown;
    readonly asyncComplete?: boolean | null;
  };
  /** From the step. */
  readonly asyncComplete?: boolean;
}

/** Statuses of the client's fault that another try may mend, as on a server. */
const RETRIED = [408, 425, 429];

/**
 * Answers the requests of `w.http` in a `TestSluice`, which sends none: pass it with the tasks. An
 * answer that is no success fails the attempt, as on a server.
 */
export function httpMock(
  answer: (request: MockedRequest) => MockedAnswer | Promise<MockedAnswer>,
): TaskDefinition<HttpInput, HttpStepOutput> {
  return defineTask({
    type: 'sluice:http',
    async run({ http_request: given, asyncComplete }: HttpInput): Promise<HttpStepOutput | Later> {
      const { uri, method, headers, body } = given;
      const request = { uri, method: method ?? 'GET', headers: headers ?? {}, body: body ?? null };
      const { statusCode = 200, ...rest } = await answer(request);
      if (statusCode >= 200 && statusCode < 300) {
        if (asyncComplete === true || given.asyncComplete === true) return Later;
        const { body: got = null, headers: named = {} } = rest;
        return { response: { statusCode, reasonPhrase: '', headers: named, body: got } };
      }
      const message = `${request.method} ${uri} answered ${statusCode}`;
      if (statusCode >= 500 || RETRIED.includes(statusCode)) throw new Error(message);
      throw new PermanentFailure(message);
    },
  });
}
