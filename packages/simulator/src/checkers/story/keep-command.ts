import type { Command } from '@sluice/core';

/**
 * Copies the bytes of a command. The caller reuses that memory after execution, and the story is
 * told later.
 */
export function keepCommand(command: Command): Command {
  switch (command.type) {
    case 'submit_tasks':
    case 'start_runs': {
      const { inputs, inputEnds } = command;
      return { ...command, ...{ inputs: used(inputs, inputEnds), inputEnds: ends(inputEnds) } };
    }
    case 'change_schedules':
    case 'patch_tasks': {
      const { inputs, inputEnds } = command;
      return { ...command, ...{ inputs: used(inputs, inputEnds), inputEnds: ends(inputEnds) } };
    }
    case 'report_attempts': {
      const { payloads, payloadEnds } = command;
      const payloadsUsed = used(payloads, payloadEnds);
      return { ...command, payloads: payloadsUsed, payloadEnds: ends(payloadEnds) };
    }
    case 'revive_run':
      return { ...command, input: Uint8Array.from(command.input) };
    default:
      return command;
  }
}

function used(bytes: Uint8Array, given: ArrayLike<number>): Uint8Array {
  // Not `slice`: on a Node buffer it shares the memory.
  return Uint8Array.from(bytes.subarray(0, given.length === 0 ? 0 : given[given.length - 1]));
}

function ends(given: ArrayLike<number>): readonly number[] {
  return Array.from(given);
}
