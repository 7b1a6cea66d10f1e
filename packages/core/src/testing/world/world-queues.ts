import type { DiscardDeadLetters } from '../../commands/dead-letters/discard-dead-letters.ts';
import type { EndRedrive, StartRedrive } from '../../commands/dead-letters/redrive-tasks.ts';
import type { PutTaskType } from '../../commands/queues/put-task-type.ts';
import type { SetQueuePaused } from '../../commands/queues/set-queue-paused.ts';
import type { Action } from './world-actions.ts';
import type { Operated } from './world-operations.ts';

type QueueOperation = Extract<Action, { queue: unknown }>['queue'];
type Definition = Extract<Action, { define: unknown }>['define'];

/** Operations on a queue or on dead letters. */
export function operateOnQueue(world: Operated, action: QueueOperation): void {
  const { partition } = world;
  const { type, isForAll, operation, ratePerSec } = action;
  const scope = isForAll ? {} : { taskType: type };
  if (operation === 'discard') {
    partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters', ...scope });
  } else if (operation === 'redrive') {
    partition.operate<StartRedrive>({ type: 'start_redrive', ratePerSec, ...scope });
  } else if (operation === 'end redrive') {
    endRedrive(world, isForAll);
  } else {
    const paused = operation === 'pause';
    partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: type, paused });
  }
}

/** Ends the newest redrive, under its own namespace or another one. */
function endRedrive({ partition, model }: Operated, isForeign: boolean): void {
  const redrive = model.redrives.at(-1);
  partition.namespace = isForeign ? 'foreign' : (redrive?.namespace ?? 'default');
  partition.operate<EndRedrive>({ type: 'end_redrive', redrive: redrive?.number ?? 99 });
}

/** Sets or removes the defaults of a task type. */
export function defineType({ partition }: Operated, { type, definition }: Definition): void {
  partition.operate<PutTaskType>({ type: 'put_task_type', taskType: type, definition });
}
