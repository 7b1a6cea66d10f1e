import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { definitionBytes, type StoredProgram } from '../../state/runs/programs.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { Program } from '../../workflow/program.ts';
import { ROOM_FOR_STEPS } from '../tasks/refused-submit.ts';

/** Bounds on definitions, of all namespaces together. */
const PROGRAMS_MAX = 10_000;
const PROGRAM_BYTES_MAX = 64 * 2 ** 20;

/** A definition as JSON text, with a hash by which the same text is found again. */
export interface DefinitionText {
  readonly text: string;
  readonly hash: string;
}

export interface PutWorkflow extends Timed, Authored {
  readonly type: 'put_workflow';
  readonly name: string;
  /** From 1 on. */
  readonly version: number;
  readonly definition: DefinitionText;
}

export interface PutWorkflowReply {
  readonly rejection?: 'invalid_definition' | 'version_in_use' | 'too_many_workflows';
  /** Whether the version was there before, and whether this changed it. */
  readonly existed: boolean;
  readonly changed: boolean;
}

/** Registers a version. One that had a run never changes; the same text again is no change. */
export function decidePutWorkflow(decision: Decision, command: PutWorkflow): PutWorkflowReply {
  const { state } = decision;
  const { namespace, name, version, definition } = command;
  const before = state.programs.version(namespace, name, version);
  const existed = before !== undefined;
  if (before?.hash === definition.hash) return { existed, changed: false };
  if (before?.wasUsed) return { rejection: 'version_in_use', existed, changed: false };
  if (!hasRoomForDefinitions(state, [definition.text])) {
    return { rejection: 'too_many_workflows', existed, changed: false };
  }
  const rejection = register(decision, { namespace, name, version, ...definition });
  if (rejection !== undefined) return { rejection, existed, changed: false };
  audit(decision, command.by, { namespace, action: 'workflow_registered' });
  return { existed, changed: true };
}

type NewProgram = Pick<StoredProgram, 'namespace' | 'name' | 'version' | 'text' | 'hash'>;

type Unusable = 'invalid_definition';

/**
 * Whether definitions that are not known yet fit, all of them. They must leave room for steps, or
 * no run could go on.
 */
export function hasRoomForDefinitions(state: ReadonlyState, texts: Iterable<string>): boolean {
  const { programs, heldBytes, limits } = state;
  let count = programs.count;
  let bytes = 0;
  for (const text of texts) {
    count += 1;
    bytes += definitionBytes(text);
  }
  return (
    count <= PROGRAMS_MAX &&
    programs.bytes + bytes <= PROGRAM_BYTES_MAX &&
    heldBytes + bytes <= limits.payloadBytesMax * (1 - ROOM_FOR_STEPS)
  );
}

/** Compiles a definition that is not known yet; returns why it cannot be used. */
export function compileNew({ runWork }: Decision, text: string): Program | Unusable {
  return runWork.programs.compile(text).program ?? 'invalid_definition';
}

/** Makes a definition known for which there is room; returns why it cannot be. */
export function register(decision: Decision, added: NewProgram): Unusable | undefined {
  const { namespace, name, version, text, hash } = added;
  const { programs } = decision.state;
  const { emit, events } = decision;
  const program = compileNew(decision, text);
  if (typeof program === 'string') return program;
  const event = events.workflowRegistered;
  event.program = programs.nextPlace;
  event.namespace = namespace;
  event.name = name;
  event.workflowVersion = version;
  event.hash = hash;
  event.sizes = program.scopes.map(({ arrivals }) => arrivals.length);
  event.tasks = program.scopes.map(({ tasks }) => tasks);
  event.arrivals = program.scopes.flatMap(({ arrivals }) => arrivals);
  event.text = text;
  emit(event);
  return undefined;
}

export interface DeleteWorkflow extends Timed, Authored {
  readonly type: 'delete_workflow';
  readonly name: string;
  readonly version: number;
}

/** Deletes a version. Runs that use it go on. */
export function decideDeleteWorkflow(
  decision: Decision,
  { namespace, name, version, by }: DeleteWorkflow,
): { readonly rejection?: 'workflow_not_found' } {
  const { state, emit, events } = decision;
  const program = version === 0 ? undefined : state.programs.version(namespace, name, version);
  if (program === undefined) return { rejection: 'workflow_not_found' };
  events.workflowRemoved.program = program.place;
  emit(events.workflowRemoved);
  audit(decision, by, { namespace, action: 'workflow_removed' });
  return {};
}
