import { namespaceOf } from '../base/queue-key.ts';
import type { Archive } from '../structures/archive.ts';
import type { TaskSpec } from '../task/task-spec.ts';

/** Defaults for tasks of a type. A field in the submit replaces the whole default of that field. */
export type TaskTypeDefinition = Pick<
  TaskSpec,
  | 'priority'
  | 'resources'
  | 'constraints'
  | 'placement'
  | 'retry'
  | 'timeouts'
  | 'tags'
  | 'callback'
>;

/** Read-only view for code outside `apply`. */
export interface TaskTypesReader {
  readonly size: number;
  get(key: string): TaskTypeDefinition | undefined;
  textOf(key: string): string;
  /** Number of definitions of one namespace. */
  countOf(namespace: string): number;
  keys(): Iterable<string>;
}

/** The registered definitions, by queue key. */
export class TaskTypes implements TaskTypesReader {
  private readonly definitions = new Map<string, TaskTypeDefinition>();
  private readonly counts = new Map<string, number>();

  get size(): number {
    return this.definitions.size;
  }

  get(key: string): TaskTypeDefinition | undefined {
    return this.definitions.get(key);
  }

  /** Empty when there is no such type. */
  textOf(key: string): string {
    const definition = this.definitions.get(key);
    return definition === undefined ? '' : JSON.stringify(definition);
  }

  countOf(namespace: string): number {
    return this.counts.get(namespace) ?? 0;
  }

  keys(): Iterable<string> {
    return this.definitions.keys();
  }

  /** An empty text removes the definition. */
  put(key: string, text: string): void {
    const before = this.definitions.size;
    if (text === '') this.definitions.delete(key);
    else this.definitions.set(key, JSON.parse(text) as TaskTypeDefinition);
    const namespace = namespaceOf(key);
    const count = this.countOf(namespace) + this.definitions.size - before;
    if (count === 0) this.counts.delete(namespace);
    else this.counts.set(namespace, count);
  }

  persist(archive: Archive): void {
    const keys = archive.texts('keys', [...this.definitions.keys()]);
    const texts = archive.texts(
      'definitions',
      keys.map((key) => this.textOf(key)),
    );
    if (!archive.isLoading) return;
    keys.forEach((key, index) => {
      this.put(key, texts[index]);
    });
  }
}

/** The submit comes first, then the definition of its type; the core's defaults come last. */
export function withDefaults(spec: TaskSpec, definition: TaskTypeDefinition | undefined): TaskSpec {
  return definition === undefined ? spec : { ...definition, ...spec };
}
