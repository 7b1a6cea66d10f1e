import type { Decision } from '../decision/decision.ts';
import { settle } from '../matching/matching.ts';
import { COMMANDS, type Command, type Replies } from './commands.ts';
import { forgetOldest } from './forget-finished.ts';
import { proceed } from './steps/proceed.ts';

/**
 * Turns a command into events, outputs and a reply, then does what became due for runs and leases
 * out the tasks that became ready.
 */
export function decide<C extends Command>(decision: Decision, command: C): Replies[C['type']] {
  const declared = declarationOf(command);
  if (declared.addedBytes !== undefined) forgetOldest(decision, declared.addedBytes(command));
  const reply = declared.decide(decision, command);
  const isAlarm = command.type === 'advance_time';
  proceed(decision, { events: isAlarm ? 'all' : decision.runWork.events });
  settle(decision);
  return reply;
}

/** `COMMANDS` has a union type. The command selects the entry that accepts exactly this command. */
function declarationOf<C extends Command>(command: C): Declared<C> {
  return COMMANDS[command.type] as unknown as Declared<C>;
}

interface Declared<C extends Command> {
  readonly decide: (decision: Decision, command: C) => Replies[C['type']];
  readonly addedBytes?: (command: C) => number;
}
