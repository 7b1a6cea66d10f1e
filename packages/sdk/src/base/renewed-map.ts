/**
 * The map is renewed after this many deletions, or twice as many as it has entries if that is more.
 */
const DELETIONS_MIN = 500;

/**
 * A map for many short-lived entries.
 *
 * V8 grows and compacts a map by making another table, and the previous table points at it. Once
 *    one table is in the old generation, all later ones are kept with it until the next full
 *    collection, and with them every entry that was ever in the map. The garbage collector would
 *    copy every task of a worker twice. A new map from time to time breaks that chain.
 */
export class RenewedMap<K, V> {
  private map = new Map<K, V>();
  private deletions = 0;

  get size(): number {
    return this.map.size;
  }

  get(key: K): V | undefined {
    return this.map.get(key);
  }

  has(key: K): boolean {
    return this.map.has(key);
  }

  set(key: K, value: V): void {
    this.map.set(key, value);
  }

  delete(key: K): boolean {
    if (!this.map.delete(key)) return false;
    this.deletions += 1;
    if (this.deletions >= Math.max(DELETIONS_MIN, 2 * this.map.size)) {
      this.map = new Map(this.map);
      this.deletions = 0;
    }
    return true;
  }

  /**
   * Oldest first, like the other iterators. Entries that are deleted meanwhile may still appear.
   */
  entries(): MapIterator<[K, V]> {
    return this.map.entries();
  }

  keys(): MapIterator<K> {
    return this.map.keys();
  }

  values(): MapIterator<V> {
    return this.map.values();
  }
}
