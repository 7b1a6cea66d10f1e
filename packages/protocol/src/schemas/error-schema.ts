import { Type } from 'typebox';
import { ERROR_CODES } from '../base/error-codes.ts';
import { literals } from '../base/literals.ts';

export const ErrorBody = Type.Object({
  error: Type.Object({
    code: literals(Object.keys(ERROR_CODES)),
    message: Type.String(),
    details: Type.Array(
      Type.Object({
        path: Type.String({ description: 'JSON pointer into the request.' }),
        problem: Type.String(),
        code: Type.Optional(
          Type.String({ description: 'Kind of the problem, in workflow definitions.' }),
        ),
      }),
    ),
    requestId: Type.String(),
  }),
});

/** The error answer as it goes over the wire. */
export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: readonly {
      readonly path: string;
      readonly problem: string;
      readonly code?: string;
    }[];
    readonly requestId: string;
  };
}
