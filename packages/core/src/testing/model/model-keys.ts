import type { SubmittedTask } from './model-task.ts';

export interface ModelKey {
  readonly namespace: string;
  readonly key: string;
  /** Of the submit that last gave the task its input. */
  input: string;
  readonly task: number;
  readonly expiresAt: number;
  /** It is the key of a request, and this is its first task. */
  readonly isOfRequest?: true;
}

/** A key as a submit has it. */
export interface GivenKey {
  readonly key: string;
  readonly input: string;
  readonly windowMs: number;
}

/** The dedupe keys that are remembered, as a plain list. */
export class ModelKeys {
  private readonly live: ModelKey[] = [];

  get count(): number {
    return this.live.length;
  }

  isHeldBy(task: number): boolean {
    return this.live.some((each) => each.task === task && !each.isOfRequest);
  }

  /** Forgets up to `most` keys whose windows have ended, earliest first. */
  forget(now: number, most: number): void {
    const over = this.live.filter(({ expiresAt }) => expiresAt <= now);
    const first = over.toSorted((a, b) => a.expiresAt - b.expiresAt || a.task - b.task);
    for (const key of first.slice(0, Math.max(0, most))) this.remove(key);
  }

  private remove(key: ModelKey): void {
    this.live.splice(this.live.indexOf(key), 1);
  }

  countOf(namespace: string): number {
    return this.live.filter((each) => each.namespace === namespace).length;
  }

  remember(keys: readonly ModelKey[]): void {
    this.live.push(...keys);
  }

  /** The task of the key has the input of a later submit. */
  changeInput(task: number, input: string): void {
    for (const each of this.live) {
      if (each.task === task && !each.isOfRequest) each.input = input;
    }
  }

  /** The first task of a request that came before; undefined for a new one. */
  lookRequest({ key, input }: GivenKey, now: number): 'request_mismatch' | number | undefined {
    const known = this.live.find((each) => each.key === key);
    if (known !== undefined && known.expiresAt <= now) this.remove(known);
    else if (known !== undefined) return known.input === input ? known.task : 'request_mismatch';
    return undefined;
  }

  /**
   * Returns the number of each task, and whether it was known or is replaced; and the new keys.
   * Numbers of new tasks follow `last`. A key whose window has ended is forgotten when it is looked
   * up.
   */
  look(
    tasks: readonly SubmittedTask[],
    { last, now, isIdle }: { last: number; now: number; isIdle: (task: number) => boolean },
  ): 'dedupe_mismatch' | { answers: KeyAnswer[]; fresh: ModelKey[] } {
    const fresh: ModelKey[] = [];
    const inputs = new Map<number, string>();
    let next = last;
    const answers: KeyAnswer[] = [];
    for (const { dedupe, type } of tasks) {
      const over = this.live.find(({ key, expiresAt }) => key === dedupe?.key && expiresAt <= now);
      if (over !== undefined) this.remove(over);
      const known = [...this.live, ...fresh].find((each) => each.key === dedupe?.key);
      if (dedupe === undefined || known === undefined) {
        next += 1;
        answers.push([next, 'new']);
        if (dedupe === undefined) continue;
        const { key, input, windowMs } = dedupe;
        const namespace = namespaceOfKey(type);
        fresh.push({ key, input, namespace, task: next, expiresAt: now + windowMs });
        continue;
      }
      const { task } = known;
      const replaces = dedupe.onDuplicate === 'replace' && (fresh.includes(known) || isIdle(task));
      const isSame = (inputs.get(task) ?? known.input) === dedupe.input;
      if (!isSame && !replaces && dedupe.onDuplicate !== 'existing') return 'dedupe_mismatch';
      if (replaces) inputs.set(task, dedupe.input);
      answers.push([task, replaces ? 'replaced' : 'known']);
    }
    return { answers, fresh };
  }
}

export type KeyAnswer = readonly [task: number, 'new' | 'known' | 'replaced'];

/** The part of a queue's key before the slash; without one, the default namespace. */
export function namespaceOfKey(key: string): string {
  return key.includes('/') ? key.split('/')[0] : 'default';
}
