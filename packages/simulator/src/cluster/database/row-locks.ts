import type { Running } from './sim-database.ts';
import type { Lock } from './statement.ts';

interface Held {
  readonly lock: Lock;
  readonly by: Running;
}

/** Who has which lock, and who waits for one. */
export class RowLocks {
  private held: Held[] = [];
  private waiting: Running[] = [];

  /** Takes the rest of the locks in order. False when one is not free: then it waits for it. */
  take(running: Running, locks: readonly Lock[]): boolean {
    for (; running.held < locks.length; running.held++) {
      const lock = locks[running.held];
      const isBlocked = this.held.some(({ lock: other, by }) => {
        const isShared = lock.isShared === true && other.isShared === true;
        return by !== running && other.name === lock.name && !isShared;
      });
      if (isBlocked) {
        this.waiting.push(running);
        return false;
      }
      this.held.push({ lock, by: running });
    }
    return true;
  }

  isWaiting(running: Running): boolean {
    return this.waiting.includes(running);
  }

  release(running: Running): void {
    this.held = this.held.filter(({ by }) => by !== running);
    this.waiting = this.waiting.filter((each) => each !== running);
  }

  /** Those who wait, to try again in their order. */
  released(): Running[] {
    return this.waiting.splice(0);
  }
}
