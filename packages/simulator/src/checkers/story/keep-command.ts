import type { Command } from '@sluice/core';

/**
 * The command with memory of its own: what a command points at is used again as soon as it was
 * carried out, and its story is told later.
 */
export function keepCommand(command: Command): Command {
  switch (command.type) {
    case 'submit_tasks': {
      const { inputs, inputEnds } = command;
      return { ...command, ...{ inputs: used(inputs, inputEnds), inputEnds: ends(inputEnds) } };
    }
    case 'patch_tasks': {
      const { inputs, inputEnds } = command;
      return { ...command, ...{ inputs: used(inputs, inputEnds), inputEnds: ends(inputEnds) } };
    }
    case 'report_attempts': {
      const { payloads, payloadEnds } = command;
      const payloadsUsed = used(payloads, payloadEnds);
      return { ...command, payloads: payloadsUsed, payloadEnds: ends(payloadEnds) };
    }
    default:
      return command;
  }
}

function used(bytes: Uint8Array, given: ArrayLike<number>): Uint8Array {
  // Not `slice`, which shares the memory when it is a Node buffer's.
  return Uint8Array.from(bytes.subarray(0, given.length === 0 ? 0 : given[given.length - 1]));
}

function ends(given: ArrayLike<number>): readonly number[] {
  return Array.from(given);
}
