import { invariant } from '../../base/invariant.ts';
import type { Archive } from '../../structures/archive.ts';

/** What apply must know of a scope, so that replay needs no compiler. */
export interface StoredScope {
  /** Place of its first step. */
  readonly first: number;
  /** Arrivals that each step waits for. */
  readonly arrivals: readonly number[];
  /** Number of steps that have a task. */
  readonly tasks: number;
}

/** The scopes from what the log and snapshots have: sizes, tasks, and the arrivals of all steps. */
export function scopesFrom(
  sizes: readonly number[],
  tasks: readonly number[],
  arrivals: readonly number[],
): StoredScope[] {
  let end = 0;
  return sizes.map((size, index) => {
    const first = end;
    end += size;
    return { first, arrivals: arrivals.slice(first, end), tasks: tasks[index] };
  });
}

/** A definition that is registered, or that came with a run. */
export interface StoredProgram {
  readonly place: number;
  readonly namespace: string;
  readonly name: string;
  /** 0 for a definition that came with a run. */
  readonly version: number;
  readonly hash: string;
  /** Of the definition itself, then of the body of each loop. */
  readonly scopes: readonly StoredScope[];
  /** The definition as JSON text. */
  readonly text: string;
  readonly registeredAt: number;
  /** Runs in memory that use it. */
  readonly references: number;
  /** A version that had a run never changes. */
  readonly wasUsed: boolean;
  /** False once its version was deleted or replaced; its last run removes it. */
  readonly isRegistered: boolean;
}

type Mutable = { -readonly [K in keyof StoredProgram]: StoredProgram[K] };

/** Read-only view for code outside `apply`. */
export interface ProgramsReader {
  readonly count: number;
  readonly bytes: number;
  readonly nextPlace: number;
  at(place: number): StoredProgram;
  /** The version with this number; the newest one for 0. */
  version(namespace: string, name: string, version: number): StoredProgram | undefined;
  inline(namespace: string, hash: string): StoredProgram | undefined;
  /** All registered versions of a namespace, by name and number. */
  registered(namespace: string): StoredProgram[];
  /** Every definition, also those that only runs still name. */
  all(): StoredProgram[];
}

/** Measured: what a definition costs beside its text. */
const ENTRY_BYTES = 400;

/** The definitions. Runs name them by place, so a place is reused only when nothing names it. */
export class Programs implements ProgramsReader {
  private readonly places: (Mutable | undefined)[] = [];
  private readonly freed: number[] = [];
  private readonly byName = new Map<string, Map<number, Mutable>>();
  private readonly byHash = new Map<string, Mutable>();
  count = 0;
  bytes = 0;

  get nextPlace(): number {
    return this.freed.at(-1) ?? this.places.length;
  }

  at(place: number): StoredProgram {
    return this.mutable(place);
  }

  version(namespace: string, name: string, version: number): StoredProgram | undefined {
    const versions = this.byName.get(keyOf(namespace, name));
    if (versions === undefined) return undefined;
    return versions.get(version === 0 ? Math.max(...versions.keys()) : version);
  }

  inline(namespace: string, hash: string): StoredProgram | undefined {
    return this.byHash.get(keyOf(namespace, hash));
  }

  registered(namespace: string): StoredProgram[] {
    const all = [...this.byName.values()].flatMap((versions) => [...versions.values()]);
    return all
      .filter((each) => each.namespace === namespace)
      .sort((a, b) => (a.name === b.name ? a.version - b.version : a.name < b.name ? -1 : 1));
  }

  all(): StoredProgram[] {
    return this.places.filter((program) => program !== undefined);
  }

  /** A version that was there before is replaced. */
  register(program: Omit<StoredProgram, 'references' | 'wasUsed' | 'isRegistered'>): void {
    invariant(program.place === this.nextPlace, 'a definition takes the next free place');
    // First, because the version that is replaced may leave its place free.
    if (this.freed.length > 0) this.freed.pop();
    else this.places.push(undefined);
    const before = this.version(program.namespace, program.name, program.version);
    if (program.version !== 0 && before !== undefined) this.unregister(before.place);
    this.put({ ...program, references: 0, wasUsed: false, isRegistered: program.version !== 0 });
  }

  unregister(place: number): void {
    const program = this.mutable(place);
    this.unlist(program);
    program.isRegistered = false;
    this.forgetIfUnused(program);
  }

  hold(place: number): void {
    const program = this.mutable(place);
    program.references += 1;
    program.wasUsed = true;
  }

  release(place: number): void {
    const program = this.mutable(place);
    program.references -= 1;
    this.forgetIfUnused(program);
  }

  persist(archive: Archive): void {
    const used = this.places.map((each) => each ?? NO_PROGRAM);
    const texts = archive.texts(
      'texts',
      used.flatMap(({ namespace, name, hash, text }) => [namespace, name, hash, text]),
    );
    const figures = archive.numbers(
      'figures',
      used.flatMap((each) => [
        each.version,
        each.registeredAt,
        each.references,
        each.wasUsed ? 1 : 0,
        each.isRegistered ? 1 : 0,
        each.scopes.length,
      ]),
    );
    const scopes = archive.numbers(
      'scopes',
      used.flatMap((each) => each.scopes.flatMap((one) => [one.arrivals.length, one.tasks])),
    );
    const arrivals = archive.numbers(
      'arrivals',
      used.flatMap((each) => each.scopes.flatMap((one) => one.arrivals)),
    );
    const freed = archive.numbers('freed', this.freed);
    if (archive.isLoading) this.load(texts, figures, { scopes, arrivals, freed });
  }

  private load(
    texts: readonly string[],
    figures: readonly number[],
    { scopes, arrivals, freed }: Record<'scopes' | 'arrivals' | 'freed', readonly number[]>,
  ): void {
    this.freed.push(...freed);
    const isFree = new Set(freed);
    let scopeAt = 0;
    let stepAt = 0;
    for (let place = 0; place < texts.length / 4; place++) {
      const [namespace, name, hash, text] = texts.slice(place * 4, place * 4 + 4);
      const [version, registeredAt, references, wasUsed, isRegistered, scopeCount] = figures.slice(
        place * FIGURES,
        place * FIGURES + FIGURES,
      );
      const pairs = scopes.slice(2 * scopeAt, 2 * (scopeAt + scopeCount));
      const sizes = pairs.filter((_, index) => index % 2 === 0);
      const tasks = pairs.filter((_, index) => index % 2 === 1);
      const steps = sizes.reduce((sum, size) => sum + size, 0);
      const program = {
        ...{ place, namespace, name, hash, text, version, registeredAt, references },
        wasUsed: wasUsed === 1,
        isRegistered: isRegistered === 1,
        scopes: scopesFrom(sizes, tasks, arrivals.slice(stepAt, stepAt + steps)),
      };
      scopeAt += scopeCount;
      stepAt += steps;
      if (isFree.has(place)) this.places[place] = undefined;
      else this.put(program);
    }
  }

  private put(program: Mutable): void {
    this.places[program.place] = program;
    this.count += 1;
    this.bytes += bytesOf(program);
    const { namespace, name, hash, version } = program;
    if (version === 0) this.byHash.set(keyOf(namespace, hash), program);
    else if (program.isRegistered) {
      const key = keyOf(namespace, name);
      const versions = this.byName.get(key) ?? new Map<number, Mutable>();
      this.byName.set(key, versions.set(version, program));
    }
  }

  private unlist({ namespace, name, version, hash }: Mutable): void {
    if (version === 0) {
      this.byHash.delete(keyOf(namespace, hash));
      return;
    }
    const key = keyOf(namespace, name);
    const versions = this.byName.get(key);
    versions?.delete(version);
    if (versions?.size === 0) this.byName.delete(key);
  }

  private forgetIfUnused(program: Mutable): void {
    if (program.references > 0 || program.isRegistered) return;
    if (program.version === 0) this.unlist(program);
    this.places[program.place] = undefined;
    this.freed.push(program.place);
    this.count -= 1;
    this.bytes -= bytesOf(program);
  }

  private mutable(place: number): Mutable {
    const program = this.places[place];
    invariant(program !== undefined, 'a definition is there as long as something names it');
    return program;
  }
}

const FIGURES = 6;

const NO_PROGRAM: StoredProgram = {
  place: 0,
  namespace: '',
  name: '',
  version: 0,
  hash: '',
  scopes: [],
  text: '',
  registeredAt: 0,
  references: 0,
  wasUsed: false,
  isRegistered: false,
};

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** What a definition takes at least. */
export function definitionBytes(text: string): number {
  return ENTRY_BYTES + 2 * text.length;
}

function bytesOf({ text, scopes }: StoredProgram): number {
  const steps = scopes.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
  return definitionBytes(text) + 8 * steps;
}
