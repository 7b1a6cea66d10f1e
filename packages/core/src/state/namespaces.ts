import { invariant } from '../base/invariant.ts';
import type { Archive } from '../structures/archive.ts';

/**
 * What one namespace uses of what all namespaces share. Quotas are compared with it. Tasks that
 * ended and are kept only for reading do not count: they leave memory when others need the room.
 */
export interface NamespaceUse {
  readonly name: string;
  /** Place among the namespaces in use; dedupe keys refer to it. */
  readonly index: number;
  /** Tasks that have not ended, and dead letters. */
  readonly tasks: number;
  /** Bytes of their inputs, outputs and errors. */
  readonly payloadBytes: number;
  /** Dedupe keys that are remembered. */
  readonly dedupeKeys: number;
  /** Queues, one for each task type. */
  readonly taskTypes: number;
  /** Counted again when a snapshot is loaded. */
  readonly schedules: number;
  /** How many of its tasks have each shape; those of the default shape are not counted. */
  readonly shapes: ReadonlyMap<number, number>;
}

export interface NamespacesReader {
  readonly size: number;
  find(name: string): NamespaceUse | undefined;
  /** The name of the namespace in this place. */
  nameAt(index: number): string;
  inUse(): Iterable<NamespaceUse>;
}

/** Place of the shape that nearly all tasks have. */
export const DEFAULT_SHAPE = 0;

/** Numbers that a snapshot has for each shape of a namespace. */
const SHAPE_NUMBERS = 3;

/** Fields that count something, in the order of a snapshot. */
const COUNTS = ['tasks', 'payloadBytes', 'dedupeKeys', 'taskTypes'] as const;

export type MutableUse = {
  -readonly [K in keyof Omit<NamespaceUse, 'shapes'>]: NamespaceUse[K];
} & {
  readonly shapes: Map<number, number>;
};

/** What a namespace uses that uses nothing. */
export function unused(name: string, index: number): MutableUse {
  const counts = { tasks: 0, payloadBytes: 0, dedupeKeys: 0, taskTypes: 0, schedules: 0 };
  return { name, index, ...counts, shapes: new Map() };
}

/** Counts a task of a shape in, or out with -1. */
export function countShape({ shapes }: MutableUse, shape: number, by: 1 | -1): void {
  if (shape === DEFAULT_SHAPE) return;
  const tasks = (shapes.get(shape) ?? 0) + by;
  if (tasks === 0) shapes.delete(shape);
  else shapes.set(shape, tasks);
}

function shapeNumbers(use: MutableUse | undefined): number[] {
  return [...(use?.shapes ?? [])].flatMap(([shape, tasks]) => [use?.index ?? 0, shape, tasks]);
}

/** Namespaces that use something. One that no longer does is forgotten, and its place is free. */
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

  nameAt(index: number): string {
    return this.at(index).name;
  }

  inUse(): Iterable<NamespaceUse> {
    return this.byName.values();
  }

  at(index: number): MutableUse {
    const use = this.places[index];
    invariant(use !== undefined, 'a namespace is there as long as something of it is');
    return use;
  }

  /** The caller counts something in it at once. */
  intern(name: string): MutableUse {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const index = this.freed.pop() ?? this.places.length;
    return this.put(unused(name, index));
  }

  /** Call it when something is no longer counted. */
  forgetIfUnused(use: NamespaceUse): void {
    // Every end of a task asks this, and nearly always the first count says it.
    if (use.tasks !== 0 || use.schedules !== 0) return;
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
    const shapes = archive.numbers('shapes', this.places.flatMap(shapeNumbers));
    const freed = archive.numbers('freed', this.freed);
    if (!archive.isLoading) return;
    this.freed.push(...freed);
    names.forEach((name, index) => {
      const counts = COUNTS.map((count, place) => [count, figures[index * COUNTS.length + place]]);
      if (freed.includes(index)) this.places[index] = undefined;
      else this.put({ ...unused(name, index), ...Object.fromEntries(counts) } as MutableUse);
    });
    for (let i = 0; i < shapes.length; i += SHAPE_NUMBERS) {
      this.at(shapes[i]).shapes.set(shapes[i + 1], shapes[i + 2]);
    }
  }

  private put(use: MutableUse): MutableUse {
    this.byName.set(use.name, use);
    this.places[use.index] = use;
    return use;
  }
}
