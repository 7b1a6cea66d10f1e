import {
  type AccessCommand,
  type DrainSession,
  NO_SLOT,
  type ReadonlyState,
  type Slot,
  TASK_STATES,
  type TaskCommand,
  type TaskOutcome,
} from '@sluice/core';
import type { Request } from '@sluice/engine';
import { inputWords } from '@sluice/server';
import { UTF8 } from '../base/utf8.ts';

/** Fields of commands that are bytes. In a request they are text. */
const BYTE_FIELDS = ['payload', 'data', 'input'] as const;

/** All requests of clients except submits and reads. */
export type OperationCommand = TaskCommand | AccessCommand | DrainSession;

/** A command as a client sends it, with text instead of bytes. */
export type Operation = Readonly<Record<string, unknown>> & {
  readonly type: OperationCommand['type'];
};

/** Turns a request from the network into a command. */
export function commandOf(operation: Operation): Request<OperationCommand> {
  const command: Record<string, unknown> = { ...operation };
  for (const field of BYTE_FIELDS) {
    const text = command[field];
    if (typeof text === 'string') command[field] = UTF8.encode(text);
  }
  if (operation.type === 'retry_tasks' && operation.input !== undefined) {
    const { input } = operation;
    command.input = { bytes: UTF8.encode(JSON.stringify(input)), words: inputWords({ input }) };
  }
  if (operation.type === 'patch_tasks') Object.assign(command, patchesOf(operation));
  return command as unknown as Request<OperationCommand>;
}

interface PatchText {
  readonly id: string;
  readonly input?: string;
}

/** Each patch has its input as text. The command has all inputs in one byte array. */
function patchesOf(operation: Operation): object {
  const given = operation.patches as readonly PatchText[];
  const inputs = given.map(({ input = '' }) => UTF8.encode(input));
  const inputEnds: number[] = [];
  for (const each of inputs) inputEnds.push((inputEnds.at(-1) ?? 0) + each.length);
  const patches = given.map(({ input, ...patch }) => ({ ...patch, hasInput: input !== undefined }));
  return { patches, inputs: Buffer.concat(inputs), inputEnds };
}

/** The outcome for one task, as a client receives it. */
interface OperationOutcome {
  readonly rejection?: string;
  /** Absent when the task is not in memory. */
  readonly state?: string;
  readonly attempt?: number;
}

/** The reply as JSON text, with the current states of the tasks. */
export function renderReply(reply: object, state: ReadonlyState): string {
  const list = 'outcomes' in reply ? (reply.outcomes as TaskOutcome<string>[]) : undefined;
  if (list !== undefined) {
    return JSON.stringify({ outcomes: list.map((outcome) => outcomeOf(outcome, state)) });
  }
  if ('slot' in reply) {
    return JSON.stringify({ outcomes: [outcomeOf(reply as TaskOutcome<string>, state)] });
  }
  return JSON.stringify(reply);
}

function outcomeOf(
  { rejection, slot }: TaskOutcome<string>,
  state: ReadonlyState,
): OperationOutcome {
  return {
    ...(rejection === undefined ? {} : { rejection }),
    ...(slot === NO_SLOT ? {} : describe(state, slot)),
  };
}

function describe({ tasks }: ReadonlyState, slot: Slot): OperationOutcome {
  return { state: TASK_STATES[tasks.state[slot]], attempt: tasks.attempt[slot] };
}
