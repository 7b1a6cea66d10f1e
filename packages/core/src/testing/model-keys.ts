import type { SubmittedTask } from './model-task.ts';

interface ModelKey {
  readonly key: number;
  readonly body: number;
  readonly task: number;
  readonly expiresAt: number;
}

/** The dedupe keys that are remembered, as a plain list. */
export class ModelKeys {
  private live: ModelKey[] = [];

  get count(): number {
    return this.live.length;
  }

  isHeldBy(task: number): boolean {
    return this.live.some((each) => each.task === task);
  }

  forget(now: number): void {
    this.live = this.live.filter(({ expiresAt }) => expiresAt > now);
  }

  /**
   * Answers the number of each task and whether it was known; new ones follow `last`. All keys are
   * remembered or none.
   */
  claim(
    tasks: readonly SubmittedTask[],
    last: number,
    now: number,
  ): 'dedupe_mismatch' | [number, boolean][] {
    const keys = [...this.live];
    let next = last;
    const answers: [number, boolean][] = [];
    for (const { dedupe } of tasks) {
      const known = keys.find((each) => each.key === dedupe?.key);
      if (known !== undefined && known.body !== dedupe?.body) return 'dedupe_mismatch';
      if (known === undefined) next += 1;
      answers.push([known?.task ?? next, known !== undefined]);
      if (dedupe === undefined || known !== undefined) continue;
      keys.push({ ...dedupe, task: next, expiresAt: now + dedupe.windowMs });
    }
    this.live = keys;
    return answers;
  }
}
