import type { Specification } from './search.ts';

/** A submit with a key, and what the answer said about it; or a retry of the key's task. */
export interface KeyOperation {
  readonly input: string;
  /** The task `id` was retried with this input. */
  readonly isRetry?: boolean;
  /** What happens when the key stands for a task with another input. */
  readonly policy: 'refuse' | 'existing' | 'replace';
  /** Whether the key may be forgotten while the world lasts. */
  readonly isShort: boolean;
  /** The task, and whether it existed before. Both are undefined when the answer names neither. */
  readonly id?: string;
  readonly isKnown?: boolean;
  /** The answer said that the key belongs to another input. */
  readonly isMismatch?: boolean;
}

/** The task that a key stands for. */
interface Claim {
  readonly input: string;
  readonly isShort: boolean;
  /** Empty until an answer names the task. */
  readonly id: string;
}

/** Undefined for a free key. */
type Holder = Claim | undefined;

/** A dedupe key, as all that it may stand for (I7). */
export class KeySpecification implements Specification<readonly Holder[], KeyOperation> {
  readonly initial: readonly Holder[] = [undefined];

  /** A short window may end at any time. An unanswered submit may take a free key. */
  settle(holders: readonly Holder[], loose: readonly KeyOperation[]): readonly Holder[] {
    let all = [...holders];
    if (holders.some((holder) => holder?.isShort === true)) all.push(undefined);
    if (all.includes(undefined)) {
      for (const { input, isShort, isRetry } of loose) {
        if (isRetry === true) continue;
        all.push({ input, isShort, id: '' });
        if (isShort) all.push(undefined);
      }
    }
    for (const { input, policy, isRetry, id } of loose) {
      if (policy !== 'replace' && isRetry !== true) continue;
      for (const holder of all.slice()) {
        const isOther = isRetry === true && holder?.id !== id && holder?.id !== '';
        if (holder !== undefined && !isOther) all.push({ ...holder, input });
      }
      // Otherwise each operation would double the list.
      all = distinct(all);
    }
    return distinct(all);
  }

  apply(holders: readonly Holder[], what: KeyOperation): readonly Holder[] | undefined {
    const after = distinct(holders.flatMap((holder) => outcomes(holder, what)));
    return after.length === 0 ? undefined : after;
  }

  keyOf(holders: readonly Holder[]): string {
    return holders.map(textOf).toSorted().join('|');
  }
}

/** What the key may stand for after an answer. Empty when the answer is impossible. */
function outcomes(
  holder: Holder,
  { input, isShort, id = '', policy, ...said }: KeyOperation,
): Holder[] {
  if (said.isRetry === true) {
    // The window of the key may be over, and another task may have it.
    if (holder === undefined || (holder.id !== id && holder.id !== '')) return [holder];
    return holder.id === id ? [{ ...holder, input }] : [{ ...holder, id, input }, holder];
  }
  if (said.isMismatch === true) {
    const mayBe = holder !== undefined && holder.input !== input && policy !== 'existing';
    return mayBe ? [holder] : [];
  }
  if (said.isKnown !== true) return holder === undefined ? [{ input, isShort, id }] : [];
  if (holder === undefined || (holder.id !== id && holder.id !== '')) return [];
  if (policy === 'replace') return [{ ...holder, id, input }];
  return holder.input === input || policy === 'existing' ? [{ ...holder, id }] : [];
}

function textOf(holder: Holder): string {
  return holder === undefined ? '' : JSON.stringify(holder);
}

function distinct(holders: readonly Holder[]): Holder[] {
  return [...new Map(holders.map((holder) => [textOf(holder), holder])).values()];
}
