import type { SubmittedTask } from './model-task.ts';

export interface ModelKey {
  readonly namespace: string;
  readonly key: string;
  readonly body: string;
  readonly task: number;
  readonly expiresAt: number;
}

/** The dedupe keys that are remembered, as a plain list. */
export class ModelKeys {
  private readonly live: ModelKey[] = [];

  get count(): number {
    return this.live.length;
  }

  isHeldBy(task: number): boolean {
    return this.live.some((each) => each.task === task);
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

  /**
   * Returns the number of each task and whether it was known, and the new keys; numbers of new
   * tasks follow `last`. A key whose window has ended is forgotten when it is looked up.
   */
  look(
    tasks: readonly SubmittedTask[],
    last: number,
    now: number,
  ): 'dedupe_mismatch' | { answers: [number, boolean][]; fresh: ModelKey[] } {
    const fresh: ModelKey[] = [];
    let next = last;
    const answers: [number, boolean][] = [];
    for (const { dedupe, type } of tasks) {
      const over = this.live.find(({ key, expiresAt }) => key === dedupe?.key && expiresAt <= now);
      if (over !== undefined) this.remove(over);
      const known = [...this.live, ...fresh].find((each) => each.key === dedupe?.key);
      if (known !== undefined && known.body !== dedupe?.body) return 'dedupe_mismatch';
      if (known === undefined) next += 1;
      answers.push([known?.task ?? next, known !== undefined]);
      if (dedupe === undefined || known !== undefined) continue;
      const namespace = namespaceOfKey(type);
      fresh.push({ ...dedupe, namespace, task: next, expiresAt: now + dedupe.windowMs });
    }
    return { answers, fresh };
  }
}

/** The part of a queue's key before the slash; without one, the default namespace. */
export function namespaceOfKey(key: string): string {
  return key.includes('/') ? key.split('/')[0] : 'default';
}
