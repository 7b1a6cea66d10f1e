import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { parseRunId } from '../../base/run-id.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { exceedsRuns } from '../../state/quotas.ts';
import type { StoredProgram } from '../../state/runs/programs.ts';

/**
 * Restarts a run that left memory: everything begins again, with the same input and the same
 * version of its workflow. The command carries everything known about the run.
 */
export interface ReadmitRun extends Timed, Authored {
  readonly type: 'readmit_run';
  readonly id: string;
  readonly workflow: string;
  readonly version: number;
  readonly priority: number;
  readonly correlation: string;
  /** As in events. */
  readonly tags: string;
  /** The run that started it; nobody waits for it any more. */
  readonly startedBy?: {
    readonly run: number;
    readonly startedAt: number;
    readonly step: string;
    readonly relation: number;
  };
  /** JSON text or the reference to a blob; empty for none. */
  readonly input: Uint8Array;
}

export interface ReadmitRunReply {
  readonly rejection?:
    | 'run_not_found'
    | 'workflow_not_found'
    | 'too_many_tasks'
    | 'too_many_bytes'
    | 'quota_exceeded';
  readonly slot: Slot;
}

export function decideReadmitRun(decision: Decision, command: ReadmitRun): ReadmitRunReply {
  const { state, emit, events, runWork, outputs, now } = decision;
  const { namespace, workflow, version, startedBy, input, by } = command;
  const key = parseRunId(command.id);
  // A run in memory is restarted there.
  const isGone = key !== undefined && state.runs.table.find(key.number) === NO_SLOT;
  const isOurs =
    key?.partition === state.partition && key.number > 0 && key.number < state.nextTask;
  if (!isGone || !isOurs) return { rejection: 'run_not_found', slot: NO_SLOT };
  // A definition that came with a run went with it.
  const stored = version === 0 ? undefined : state.programs.version(namespace, workflow, version);
  if (stored === undefined) return { rejection: 'workflow_not_found', slot: NO_SLOT };
  const rejection = whyNot(decision, command, stored);
  if (rejection !== undefined) return { rejection, slot: NO_SLOT };

  const program = runWork.programs.of(stored);
  const event = events.runReadmitted;
  event.slot = state.runs.table.nextFree();
  event.task = key.number;
  event.startedAt = key.submittedAt;
  event.dedupeEntry = state.dedupe.entryOf(key.number) + 1;
  event.parent = startedBy?.run ?? 0;
  event.parentAt = startedBy?.startedAt ?? 0;
  event.reference = startedBy?.step ?? '';
  event.relation = startedBy?.relation ?? 0;
  event.program = stored.place;
  event.base = state.runs.steps.nextFrame(stored.scopes[0].arrivals.length);
  event.priority = command.priority;
  event.until = program.timeoutMs === 0 ? 0 : now + program.timeoutMs;
  event.correlation = command.correlation;
  event.tags = command.tags;
  const variables = runWork.utf8.encode(program.variables);
  Object.assign(event.variables, { bytes: variables, start: 0, end: variables.length });
  Object.assign(event.input, { bytes: input, start: 0, end: input.length });
  emit(event);
  const { slot } = event;
  outputs.startedRuns.push(slot);
  audit(decision, by, { namespace, action: 'run_restarted' });
  return { slot };
}

function whyNot(
  { state }: Decision,
  { input, namespace }: ReadmitRun,
  { scopes: [{ arrivals, tasks: needed }] }: StoredProgram,
): ReadmitRunReply['rejection'] {
  const { tasks, runs, limits, heldBytes } = state;
  const hasRoom =
    runs.table.count < limits.tasksMax &&
    tasks.count + runs.promised + needed <= limits.tasksMax &&
    runs.steps.hasRoomFor([arrivals.length]);
  if (!hasRoom) return 'too_many_tasks';
  if (exceedsRuns(state, namespace, 1)) return 'quota_exceeded';
  return heldBytes + input.length > limits.payloadBytesMax ? 'too_many_bytes' : undefined;
}
