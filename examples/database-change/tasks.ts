import { defineTask, PermanentFailure } from '@sluice/sdk';
import { addColumn, backUpAs, columnsOf, restore, shards } from './database.ts';

/** The tasks of the workflow in `database-change.ts`. */

export const prepare = defineTask({
  type: 'database.prepare',
  run: (input: { column: string; shards: readonly string[] }) => {
    const unknown = input.shards.find((shard) => !shards.has(shard));
    if (unknown !== undefined) throw new PermanentFailure(`no shard ${unknown}`);
    return { statement: `ALTER TABLE users ADD COLUMN ${input.column}` };
  },
});

export const backUp = defineTask({
  type: 'database.back-up',
  run: (input: { shards: readonly string[] }, { idempotencyKey }) => {
    backUpAs(idempotencyKey, input.shards);
    return { backup: idempotencyKey };
  },
});

export const apply = defineTask({
  type: 'database.apply',
  retry: { maxAttempts: 3 },
  run: (input: { shard: string; column: string }) => {
    addColumn(input.shard, input.column);
    return { shard: input.shard };
  },
});

export const verify = defineTask({
  type: 'database.verify',
  run: (input: { column: string; shards: readonly string[] }) => {
    const missing = input.shards.find((shard) => !columnsOf(shard).includes(input.column));
    if (missing !== undefined) throw new PermanentFailure(`${missing} has no ${input.column}`);
    return { isComplete: true };
  },
});

export const rollBack = defineTask({
  type: 'database.roll-back',
  retry: { maxAttempts: 10 },
  run: (input: { backup: string }) => {
    restore(input.backup);
    return { backup: input.backup };
  },
});
