import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { deadAmong, oldestDead } from './dead-letter-scope.ts';

const DISCARDS_PER_COMMAND = 1000;

/** More than one command can add. */
const DROPS_PER_COMMAND = 10_000;

/** Turns dead letters into ordinary finished tasks. */
export interface DiscardDeadLetters extends Timed, Authored {
  readonly type: 'discard_dead_letters';
  readonly taskType?: string;
  /** Only these tasks, by number. */
  readonly tasks?: readonly number[];
}

export interface DiscardDeadLettersReply {
  readonly discarded: number;
  /** True when the limit per command was reached. The caller repeats the command to continue. */
  readonly more: boolean;
}

export function decideDiscardDeadLetters(
  decision: Decision,
  command: DiscardDeadLetters,
): DiscardDeadLettersReply {
  const { namespace, taskType } = command;
  if (command.tasks !== undefined) return discardThese(decision, command, command.tasks);
  const scope = {
    namespace,
    taskType: taskType === undefined ? '' : queueKey(namespace, taskType),
  };
  if (oldestDead(decision.state, scope) !== NO_SLOT) {
    audit(decision, command.by, { namespace, action: 'dead_letters_discarded' });
  }
  for (let discarded = 0; discarded < DISCARDS_PER_COMMAND; discarded++) {
    const slot = oldestDead(decision.state, scope);
    if (slot === NO_SLOT) return { discarded, more: false };
    drop(decision, slot, false);
  }
  return { discarded: DISCARDS_PER_COMMAND, more: true };
}

function discardThese(
  decision: Decision,
  { namespace, by }: DiscardDeadLetters,
  tasks: readonly number[],
): DiscardDeadLettersReply {
  const slots = deadAmong(decision.state, namespace, tasks);
  if (slots.length > 0) audit(decision, by, { namespace, action: 'dead_letters_discarded' });
  for (const slot of slots) drop(decision, slot, false);
  return { discarded: slots.length, more: false };
}

/** Keeps dead letters within their limit (L9), a bounded number per command. */
export function dropOverflow(decision: Decision): void {
  const { deadLetters, limits } = decision.state;
  for (let dropped = 0; dropped < DROPS_PER_COMMAND; dropped++) {
    if (deadLetters.count <= limits.deadLettersMax) return;
    drop(decision, oldestOfMost(decision.state), true);
  }
}

/**
 * The oldest dead letter of the namespace that has the most. A flood of failures in one namespace
 * must not push out the dead letters of another. On a tie, the one that ended first.
 */
function oldestOfMost({ tasks, deadLetters }: ReadonlyState): Slot {
  const { endedAt, number } = tasks;
  let found: Slot = NO_SLOT;
  let most = 0;
  for (const namespace of deadLetters.namespaces()) {
    const count = deadLetters.countOfNamespace(namespace);
    const slot = deadLetters.firstOfNamespace(namespace);
    const lead =
      found === NO_SLOT ? -1 : endedAt[slot] - endedAt[found] || number[slot] - number[found];
    if (count < most || (count === most && lead > 0)) continue;
    found = slot;
    most = count;
  }
  return found;
}

function drop({ state, emit, events }: Decision, slot: Slot, isOverflow: boolean): void {
  events.deadLetterDropped.slot = slot;
  events.deadLetterDropped.task = state.tasks.number[slot] as TaskNumber;
  events.deadLetterDropped.isOverflow = isOverflow;
  emit(events.deadLetterDropped);
}
