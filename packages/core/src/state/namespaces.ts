import { invariant } from '../base/invariant.ts';
import type { Archive } from '../structures/archive.ts';

/**
 * What one namespace uses of the shared limits. Quotas are compared with it. Finished tasks that
 * are kept only for reading do not count: they leave memory when room is needed.
 */
export interface NamespaceUse {
  readonly name: string;
  /** Index among the namespaces in use; dedupe keys refer to it. */
  readonly index: number;
  /** Tasks that have not ended, and dead letters. */
  readonly tasks: number;
  /** Bytes of their inputs, outputs and errors. */
  readonly payloadBytes: number;
  /** Dedupe keys that are remembered. */
  readonly dedupeKeys: number;
  /** Queues, one for each task type. */
  readonly taskTypes: number;
}

export interface NamespacesReader {
  readonly size: number;
  find(name: string): NamespaceUse | undefined;
  inUse(): Iterable<NamespaceUse>;
}

/** The counting fields, in the order of a snapshot. */
const COUNTS = ['tasks', 'payloadBytes', 'dedupeKeys', 'taskTypes'] as const;

export type MutableUse = { -readonly [K in keyof NamespaceUse]: NamespaceUse[K] };

/** Namespaces that use something. An unused one is forgotten, and its place is reused. */
export class Namespaces implements NamespacesReader {
  private readonly byName = new Map<string, MutableUse>();
  private readonly places: (MutableUse | undefined)[] = [];
  private readonly freed: number[] = [];

  get size(): number {
    return this.byName.size;
  }

  find(name: string): NamespaceUse | undefined {
    return this.byName.get(name);
  }

  inUse(): Iterable<NamespaceUse> {
    return this.byName.values();
  }

  at(index: number): MutableUse {
    const use = this.places[index];
    invariant(use !== undefined, 'a namespace is there as long as something of it is');
    return use;
  }

  /** The caller must count something in it at once. */
  intern(name: string): MutableUse {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const index = this.freed.pop() ?? this.places.length;
    return this.put({ name, index, tasks: 0, payloadBytes: 0, dedupeKeys: 0, taskTypes: 0 });
  }

  /** Called when something is no longer counted. */
  forgetIfUnused(use: NamespaceUse): void {
    if (COUNTS.some((count) => use[count] !== 0)) return;
    this.byName.delete(use.name);
    this.places[use.index] = undefined;
    this.freed.push(use.index);
  }

  persist(archive: Archive): void {
    const names = archive.texts(
      'names',
      this.places.map((use) => use?.name ?? ''),
    );
    const figures = archive.numbers(
      'counts',
      this.places.flatMap((use) => COUNTS.map((count) => use?.[count] ?? 0)),
    );
    const freed = archive.numbers('freed', this.freed);
    if (!archive.isLoading) return;
    this.freed.push(...freed);
    names.forEach((name, index) => {
      const counts = COUNTS.map((count, place) => [count, figures[index * COUNTS.length + place]]);
      if (freed.includes(index)) this.places[index] = undefined;
      else this.put({ name, index, ...Object.fromEntries(counts) } as MutableUse);
    });
  }

  private put(use: MutableUse): MutableUse {
    this.byName.set(use.name, use);
    this.places[use.index] = use;
    return use;
  }
}
