import { DEFAULT_NAMESPACE } from '../../base/queue-key.ts';
import type { Archive } from '../../structures/archive.ts';

/** What is known of a key. Its text is known to its holder alone. */
export interface AccessKey {
  readonly id: string;
  readonly namespace: string;
  readonly role: string;
  /** What people call it. */
  readonly name: string;
  /** Of the text. */
  readonly hash: string;
  readonly createdAt: number;
  /** 0 for never. */
  readonly expiresAt: number;
}

/** What everybody but `apply` sees. */
export interface AccessKeysReader {
  readonly size: number;
  get(id: string): AccessKey | undefined;
  values(): Iterable<AccessKey>;
}

/** The role that decides who has keys. */
const ADMIN = 'admin';

/** Whoever has one of these may make keys for everybody; without one nobody could. */
export function isServerAdmin({ role, namespace }: Pick<AccessKey, 'role' | 'namespace'>): boolean {
  return role === ADMIN && namespace === DEFAULT_NAMESPACE;
}

export function hasExpired({ expiresAt }: Pick<AccessKey, 'expiresAt'>, now: number): boolean {
  return expiresAt !== 0 && expiresAt <= now;
}

/** Who decides about the default namespace decides about all of them. */
export function isOver(namespace: string, other: string): boolean {
  return namespace === DEFAULT_NAMESPACE || namespace === other;
}

/** The keys that were made and not revoked, by their ids, oldest first; expired ones too. */
export class AccessKeys implements AccessKeysReader {
  private readonly keys = new Map<string, AccessKey>();

  get size(): number {
    return this.keys.size;
  }

  get(id: string): AccessKey | undefined {
    return this.keys.get(id);
  }

  values(): Iterable<AccessKey> {
    return this.keys.values();
  }

  put(key: AccessKey): void {
    this.keys.set(key.id, key);
  }

  remove(id: string): void {
    this.keys.delete(id);
  }

  persist(archive: Archive): void {
    const keys = [...this.keys.values()];
    const texts = archive.texts(
      'texts',
      keys.flatMap(({ id, namespace, role, name, hash }) => [id, namespace, role, name, hash]),
    );
    const times = archive.numbers(
      'times',
      keys.flatMap(({ createdAt, expiresAt }) => [createdAt, expiresAt]),
    );
    if (!archive.isLoading) return;
    for (let place = 0; place * 2 < times.length; place++) {
      const [id, namespace, role, name, hash] = texts.slice(place * 5);
      const [createdAt, expiresAt] = times.slice(place * 2);
      this.put({ id, namespace, role, name, hash, createdAt, expiresAt });
    }
  }
}
