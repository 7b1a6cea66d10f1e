import { defineWorkflow, inputOf } from '@sluice/sdk';
import { apply, backUp, prepare, rollBack, verify } from './tasks.ts';

export interface Change {
  readonly column: string;
  readonly shards: readonly string[];
}

/** What a person answers for each shard. */
export interface Approval {
  readonly approved: boolean;
}

const A_WEEK = 7 * 24 * 3600;

export const databaseChange = defineWorkflow(
  'database-change',
  { version: 1, input: inputOf<Change>(), timeoutSeconds: A_WEEK },
  (w) => {
    const { column, shards } = w.input;
    const plan = w.step('prepare', prepare, { column, shards });
    const copy = w.step('back-up', backUp, { shards });

    w.loopOver(
      shards,
      (w, { item: shard }) => {
        const title = `${plan.output.statement} on ${shard}?`;
        const answer = w.human<Approval>('approve', { title });
        w.switch(answer.output.approved, {
          true: (w) => w.step('apply', apply, { shard, column }, { optional: true }),
        });
      },
      // Without an approval or with a failure there is no output, and the other shards stay as
      // they are.
      { while: '$.apply !== null', name: 'shards' },
    );

    const checked = w.step('verify', verify, { column, shards }, { optional: true });
    w.switch(
      checked.output.isComplete,
      { true: (w) => w.noop({ name: 'done' }) },
      (w) => {
        const undone = w.step('roll-back', rollBack, { backup: copy.output.backup });
        const reason = `not all shards were changed; restored ${undone.output.backup}`;
        w.terminate({ status: 'failed', reason });
      },
      { name: 'is-complete' },
    );
    return { statement: plan.output.statement };
  },
);
