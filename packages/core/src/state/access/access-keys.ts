import { DEFAULT_NAMESPACE } from '../../base/queue-key.ts';
import type { Archive } from '../../structures/archive.ts';

/** What the server knows about a key. Only the key's holder has its text. */
export interface AccessKey {
  readonly id: string;
  readonly namespace: string;
  /** Its roles, separated by commas. */
  readonly role: string;
  /** A name for people. */
  readonly name: string;
  /** Hash of the key's text. */
  readonly hash: string;
  readonly createdAt: number;
  /** 0 for a key that never expires. */
  readonly expiresAt: number;
}

/** Read-only view for code outside `apply`. */
export interface AccessKeysReader {
  readonly size: number;
  get(id: string): AccessKey | undefined;
  values(): Iterable<AccessKey>;
}

/** The role that manages access keys. */
const ADMIN = 'admin';

/** A server admin may create keys for every namespace. Without one, no keys could be created. */
export function isServerAdmin({ role, namespace }: Pick<AccessKey, 'role' | 'namespace'>): boolean {
  return namespace === DEFAULT_NAMESPACE && role.split(',').includes(ADMIN);
}

export function hasExpired({ expiresAt }: Pick<AccessKey, 'expiresAt'>, now: number): boolean {
  return expiresAt !== 0 && expiresAt <= now;
}

/** An admin of the default namespace manages all namespaces. */
export function isOver(namespace: string, other: string): boolean {
  return namespace === DEFAULT_NAMESPACE || namespace === other;
}

/** All keys that are not revoked, including expired ones, by id, oldest first. */
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
