import type { Contender } from './contender.ts';
import { CONTENDERS } from './contenders.ts';
import { RemoteRole } from './remote-role.ts';
import { startStore } from './stores/start-store.ts';
import type { Store } from './stores/store.ts';
import { type Usage, usageOf } from './usage.ts';

const QUEUE = 'bench';

/** One contender with a fresh store, ready for one work. */
export class Stage {
  readonly contender: Contender;
  readonly store: Store;
  readonly client: RemoteRole<'client'>;
  readonly worker: RemoteRole<'worker'>;

  private constructor(parts: {
    contender: Contender;
    store: Store;
    client: RemoteRole<'client'>;
    worker: RemoteRole<'worker'>;
  }) {
    this.contender = parts.contender;
    this.store = parts.store;
    this.client = parts.client;
    this.worker = parts.worker;
  }

  /** With a store of the contender's usual kind, unless another one is given. */
  static async set(name: string, given?: Store): Promise<Stage> {
    const contender = await CONTENDERS[name]();
    const store = given ?? (await startStore(contender.store));
    try {
      const place = { contender: name, address: store.address, queue: QUEUE };
      // One after the other, because both may create the tables.
      const client = await RemoteRole.start('client', place);
      const worker = await RemoteRole.start('worker', place);
      return new Stage({ contender, store, client, worker });
    } catch (cause) {
      await store.stop();
      throw cause;
    }
  }

  /** Usage of the store and of both role processes. */
  usage(): Promise<Usage> {
    return usageOf([this.store.pid, this.client.pid, this.worker.pid]);
  }

  async clear(): Promise<void> {
    try {
      await this.client.end();
      await this.worker.end();
    } finally {
      await this.store.stop();
    }
  }
}
