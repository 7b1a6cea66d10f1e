import type { Mutant } from './mutant.ts';

const ENGINE = 'engine/src/engine.ts';
const SHOWN_PARTS = 'engine/src/shown-parts.ts';
const RECOVERY = 'engine/src/recovery.ts';

/** Bugs in the loop around the core: when output leaves, and how a restart reads the disk. */
export const ENGINE_MUTANTS: readonly Mutant[] = [
  {
    name: 'acknowledge-before-commit',
    file: ENGINE,
    find: 'if (!this.open.isEmpty) this.open.waiting.push(waiting);',
    replace: 'if (!this.open.isEmpty) waiting.release();',
    what: 'Nothing leaves before its batch is durable (L2): here answers do.',
  },
  {
    name: 'acknowledge-with-the-batch-before',
    file: ENGINE,
    find: 'if (!this.open.isEmpty) this.open.waiting.push(waiting);',
    replace:
      'if (!this.open.isEmpty && this.appending === undefined) this.open.waiting.push(waiting);',
    what: 'An answer waits for its own batch (engine.after-commit): here for the one before it.',
  },
  {
    name: 'read-uncommitted',
    file: ENGINE,
    find: 'return this.whenDurable(() => view(this.partition.state, this.partition));',
    replace:
      'return new Promise((resolve) => resolve(view(this.partition.state, this.partition)));',
    what: 'A read shows nothing that is not durable (L2): here it shows what is in memory.',
  },
  {
    name: 'task-shown-before-commit',
    file: SHOWN_PARTS,
    find: 'if (batch === this.open) this.isInOpen = true;',
    replace: 'if (batch === this.open) this.isInOpen = false;',
    what: 'A read of a task waits for a batch that touched it (L2): here not for the open one.',
  },
  {
    name: 'task-shown-during-commit',
    file: SHOWN_PARTS,
    find: 'else if (batch === this.appending) this.isInAppending = true;',
    replace: 'else if (batch === this.appending) this.isInAppending = false;',
    what: 'A read of a task waits for a batch that touched it (L2): here not for an append.',
  },
  {
    name: 'push-before-commit',
    file: 'server/src/gateway/server-outputs.ts',
    find: 'stream.stageTask(state, pushSlots[i]);',
    replace: `stream.stageTask(state, pushSlots[i]);
      const early = stream.seal();
      if (early !== undefined) stream.send(early);`,
    what: 'A worker is given nothing before the lease is durable (L2): here at once.',
  },
  {
    name: 'unknown-counts-as-done',
    file: ENGINE,
    find: "if (outcome === 'ok' || outcome === 'duplicate') return;",
    replace: "if (outcome === 'ok' || outcome === 'duplicate' || outcome === 'unknown') return;",
    what: 'An append is repeated until it is definite (engine.definite-append): here not again.',
  },
  {
    name: 'reread-the-tail-after-unknown',
    file: ENGINE,
    find: "if (outcome === 'fenced') {",
    replace: `if ((outcome as string) === 'unknown') {
        let tail = this.tail;
        await this.options.log.read(tail, (stored) => {
          tail = stored.firstRecord + stored.recordCount;
        });
        Object.assign(logBatch, { expectedTail: tail, nonce: this.options.nonce() });
      }
      if (outcome === 'fenced') {`,
    what: 'An unknown append is repeated as it was (engine.definite-append): here at the new tail.',
  },
  {
    name: 'apply-twice-on-duplicate',
    file: ENGINE,
    find: "if (outcome === 'ok' || outcome === 'duplicate') return;",
    replace: `if (outcome === 'duplicate') this.partition.replay(logBatch.bytes, this.tail);
      if (outcome === 'ok' || outcome === 'duplicate') return;`,
    what: 'What landed is applied once (partition.same-replay): here again when the log has it.',
  },
  {
    name: 'outputs-of-a-stopped-engine',
    file: ENGINE,
    find: 'for (const each of waiting) each.drop(stopped);',
    replace: 'for (const each of waiting) each.release();',
    what: 'A stopped engine lets nothing out (engine.definite-append): here all that waited.',
  },
  {
    name: 'alarm-rounded-up',
    file: 'engine/src/alarm.ts',
    find: 'const delayMs = Math.min(Math.max(at - now, 0), DELAY_MS_MAX);',
    replace:
      'const delayMs = Math.min(Math.ceil(Math.max(at - now, 0) / 100) * 100, DELAY_MS_MAX);',
    what: 'A timer fires within milliseconds of its time (I18): here with the next tenth second.',
  },
  {
    name: 'alarm-sleeps-while-the-clock-is-set',
    file: 'engine/src/alarm.ts',
    find: 'const TRUSTED_MS = 10;',
    replace: 'const TRUSTED_MS = 3_600_000;',
    what: 'What is due happens soon (I18): here not when the clock is set forward meanwhile.',
  },
  {
    name: 'recovery-skips-the-last-batch',
    file: RECOVERY,
    find: 'withinLimits(() => partition.replay(bytes, firstRecord));',
    replace: `type Held = { partition: unknown; bytes: Uint8Array; firstRecord: number };
    const world = globalThis as { held?: Held };
    const { held } = world;
    if (held?.partition === partition) partition.replay(held.bytes, held.firstRecord);
    world.held = { partition, bytes: bytes.slice(), firstRecord };`,
    what: 'What was acknowledged is there after a restart (L1): here not the last batch.',
  },
  {
    name: 'forget-the-grace',
    file: ENGINE,
    find: 'partition.expectHolders(options.clock(), options.graceMsMin);',
    replace: 'partition.expectHolders(options.clock() - 1_000_000, 0);',
    what: 'No lease expires before a grace period after a restart (L7): here at once.',
  },
  {
    name: 'older-snapshot-without-the-log-between',
    file: RECOVERY,
    find: 'return { partition: await load(source, position), position };',
    replace: 'return { partition: await load(source, position), position: newest };',
    what: 'An older snapshot is followed by all of its log (snapshots.older-log): here by a part.',
  },
  {
    name: 'damaged-snapshot-ends-recovery',
    file: RECOVERY,
    find: 'if (!isUnusable(cause)) throw cause;',
    replace: 'if (!isUnusable(cause) || position === newest) throw cause;',
    what: 'A damaged snapshot gives way to the older one (snapshots.older-log): here to none.',
  },
  {
    name: 'trim-behind-the-newer-snapshot',
    file: 'engine/src/snapshot-keeper.ts',
    find: 'const [, older] = await this.positions();',
    replace: 'const [older] = await this.positions();',
    what: 'The log is kept from the older snapshot on (snapshots.older-log): here from the newer.',
  },
  {
    name: 'trim-up-to-the-tail',
    file: ENGINE,
    find: 'const upTo = Math.min(upToSnapshot, this.feed?.watermark ?? upToSnapshot);',
    replace: 'const upTo = Math.max(upToSnapshot, this.tail);',
    what: 'The log is kept for readers (feed.safe-watermark, snapshots.older-log): here all goes.',
  },
  {
    name: 'trim-past-the-watermark',
    file: ENGINE,
    find: 'const upTo = Math.min(upToSnapshot, this.feed?.watermark ?? upToSnapshot);',
    replace: 'const upTo = upToSnapshot;',
    what: 'The log is kept for its consumer (feed.safe-watermark): here only snapshots count.',
  },
  {
    name: 'forget-before-the-consumer',
    file: ENGINE,
    find: 'this.partition.keepUnlessEndedBefore(isAll ? this.options.clock() : at);',
    replace: 'this.partition.keepUnlessEndedBefore(this.options.clock());',
    what: 'A task stays in memory until its consumer has it (L9): here until it has any batch.',
  },
  {
    name: 'feed-with-a-gap',
    file: 'engine/src/committed-feed.ts',
    find: 'if (!isReread && recent?.firstRecord !== this.position) return undefined;',
    replace: 'if (!isReread && recent === undefined) return undefined;',
    what: 'A consumer gets all batches in order (feed.bounded-memory): here some are left out.',
  },
];
