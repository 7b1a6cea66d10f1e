import { suggest } from '@sluice/protocol/suggestion';
import { visible } from '../screen/visible.ts';
import { RefusedError } from './api-errors.ts';

/** Names that are listed when none of them is near. */
const LISTED_MAX = 10;

interface Known {
  /** The code of a refusal because the name is unknown. */
  readonly code: string;
  readonly word: string;
  /** What the names are, such as `workflows`. */
  readonly what: string;
  readonly names: () => Promise<readonly string[]>;
}

/** Makes the call. If the server does not know the name, the error says what it knows. */
export async function suggesting<T>(call: Promise<T>, known: Known): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (!(cause instanceof RefusedError) || cause.code !== known.code) throw cause;
    throw new RefusedError(`${cause.message}${await advice(known)}`, { code: cause.code, cause });
  }
}

/** A failed look-up must not hide the refusal. */
async function advice({ word, what, names }: Known): Promise<string> {
  try {
    const all = await names();
    const near = suggest(word, all);
    if (near !== undefined) return `; did you mean '${visible(near)}'?`;
    if (all.length === 0) return `; there are no ${what}`;
    const more = all.length > LISTED_MAX ? ', …' : '';
    return `; ${what}: ${all.slice(0, LISTED_MAX).map(visible).join(', ')}${more}`;
  } catch {
    return '';
  }
}
