/** After so many deletions, or twice as many as there are entries. */
const DELETIONS_MIN = 500;

/**
 * A map through which many entries pass and in which few stay.
 *
 * V8 grows and tidies a map by making another table, and the table before points at it. Once one of
 * them is in the old generation, all later ones are kept with it, and with them all that went
 * through the map, until the next full collection: the garbage collector would copy every task of
 * a worker twice. A new map every now and then cuts that chain.
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

  /** Oldest first, as the others. Entries that go meanwhile may come all the same. */
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
