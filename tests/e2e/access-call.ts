import type { Answer, Call, KeyedApi } from '../support/keyed-api.ts';

/** One call about an object in the namespace `shop`, and the expected answers. */
interface Expected {
  readonly call: Omit<Call, 'method'>;
  /** The status for a caller in the namespace. */
  readonly own: number;
  /**
   * For a caller in another namespace: the error code, or a text that the answer must not contain.
   */
  readonly foreign: { readonly code: string } | { readonly hides: string };
}

export type Prepare = (shop: KeyedApi) => Promise<Expected>;

let count = 0;

export function fresh(word: string): string {
  count += 1;
  return `${word}-${count}`;
}

export async function done(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answer;
  if (status > 299) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}
