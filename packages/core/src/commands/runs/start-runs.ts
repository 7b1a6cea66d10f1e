import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { invariant } from '../../base/invariant.ts';
import type { Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { kindOf, wholeValue } from '../../expressions/json-bytes.ts';
import { VALUE_BYTES_MAX } from '../../expressions/json-writer.ts';
import { mergeObjects } from '../../expressions/merge-objects.ts';
import { CheckBudget } from '../../schema/check-value.ts';
import { inputProblems } from '../../schema/run-schemas.ts';
import type { SchemaProblem } from '../../schema/schema-form.ts';
import { exceededQuota, exceedsRuns, type QuotaName } from '../../state/quotas.ts';
import type { StoredProgram } from '../../state/runs/programs.ts';
import { type PayloadRange, pointAt } from '../../structures/payload-range.ts';
import { type Tags, tagsText } from '../../task/task-labels.ts';
import { DEFAULT_PRIORITY } from '../../task/task-state.ts';
import type { Program } from '../../workflow/program.ts';
import { type DedupeClaims, findDuplicates, pointAtClaim } from '../tasks/duplicates.ts';
import { ROOM_FOR_STEPS } from '../tasks/refused-submit.ts';
import type { KnownTask } from '../tasks/submit-tasks.ts';
import {
  compileNew,
  type DefinitionText,
  hasRoomForDefinitions,
  register,
} from './put-workflow.ts';

export interface RunSpec {
  readonly workflow: string;
  /** 0 for the newest version. */
  readonly version: number;
  /** Comes with the run and need not be registered. */
  readonly definition?: DefinitionText;
  readonly priority?: number;
  readonly correlationId?: string;
  readonly tags?: Tags;
}

/** Starts all of the runs or none. */
export interface StartRuns extends Timed {
  readonly type: 'start_runs';
  readonly runs: readonly RunSpec[];
  /** As in `SubmitTasks`. */
  readonly inputs: Uint8Array;
  readonly inputEnds: ArrayLike<number>;
  readonly dedupe?: DedupeClaims;
}

export interface StartRunsReply {
  readonly rejection?:
    | 'workflow_not_found'
    | 'invalid_definition'
    | 'too_many_workflows'
    | 'too_many_tasks'
    | 'too_many_bytes'
    | 'too_many_keys'
    | 'too_many_callbacks'
    | 'quota_exceeded'
    | 'value_too_large'
    | 'unfit_input'
    | 'dedupe_mismatch';
  readonly quota?: QuotaName;
  /** The run that was refused. */
  readonly at?: number;
  /** What does not fit the schemas of the workflows; paths begin at the input of the run. */
  readonly unfit?: readonly UnfitInput[];
  /** One per run, in order; `NO_SLOT` for a known run that has left memory. */
  readonly slots: readonly Slot[];
  /** Runs that were there before, by their places. */
  readonly known?: ReadonlyMap<number, KnownTask>;
}

/** A problem of the input of one run. */
export interface UnfitInput extends SchemaProblem {
  /** Place of the run. */
  readonly at: number;
}

export function decideStartRuns(decision: Decision, command: StartRuns): StartRunsReply {
  const { state } = decision;
  const duplicates = findDuplicates(decision, command.dedupe);
  if (duplicates.mismatchAt >= 0) {
    return { rejection: 'dedupe_mismatch', at: duplicates.mismatchAt, slots: [] };
  }
  const fresh = command.runs
    .map((_, place) => place)
    .filter((place) => !duplicates.entries.has(place) && !duplicates.earlier.has(place));
  const refusal = whyRefused(decision, command, fresh);
  if (refusal !== undefined) return { ...refusal, slots: [] };

  const slots: Slot[] = [];
  const known = new Map<number, KnownTask>();
  command.runs.forEach((_, place) => {
    const entry = duplicates.entries.get(place);
    const before = duplicates.earlier.get(place);
    if (entry !== undefined) {
      const number = state.dedupe.task[entry] as TaskNumber;
      const slot = state.runs.table.find(number);
      const runState =
        slot === NO_SLOT ? state.dedupe.lastState[entry] : state.runs.table.state[slot];
      known.set(place, { number, submittedAt: state.dedupe.submittedAt[entry], state: runState });
      slots.push(slot);
    } else if (before !== undefined) {
      slots.push(slots[before]);
      const { table } = state.runs;
      const slot = slots[before];
      known.set(place, {
        number: table.number[slot] as TaskNumber,
        submittedAt: table.startedAt[slot],
        state: table.state[slot],
      });
    } else slots.push(start(decision, command, place));
  });
  return known.size === 0 ? { slots } : { slots, known };
}

type Refusal = Pick<StartRunsReply, 'rejection' | 'at' | 'quota' | 'unfit'>;

/** Approximate maximum number of problems in an answer. */
const PROBLEMS_MAX = 50;

function whyRefused(
  decision: Decision,
  command: StartRuns,
  fresh: readonly number[],
): Refusal | undefined {
  const { state } = decision;
  const frames: number[] = [];
  let promised = 0;
  let bytes = 0;
  let keys = 0;
  let hasCallback = false;
  const definitions = new Map<string, string>();
  const unfit: UnfitInput[] = [];
  const budget = new CheckBudget();
  for (const at of fresh) {
    const { definition } = command.runs[at];
    if (definition !== undefined && findStored(decision, command, at) === undefined) {
      definitions.set(definition.hash, definition.text);
      if (!hasRoomForDefinitions(state, definitions.values())) {
        return { rejection: 'too_many_workflows', at };
      }
    }
    const program = programOf(decision, command, at);
    if (typeof program === 'string') return { rejection: program, at };
    frames.push(program.scopes[0].arrivals.length);
    promised += program.scopes[0].tasks;
    hasCallback ||= program.callback !== undefined;
    bytes += inputBytes(command, at);
    if ((command.dedupe?.windowsMs[at] ?? 0) !== 0) keys += 1;
    if (hasHugeInput(program, inputBytes(command, at))) {
      return { rejection: 'value_too_large', at };
    }
    if (unfit.length < PROBLEMS_MAX) {
      unfit.push(...unfitInput(decision, command, { at, program, budget }));
    }
  }
  if (unfit.length > 0) return { rejection: 'unfit_input', at: unfit[0].at, unfit };
  const { limits, tasks, runs, heldBytes, dedupe } = state;
  const hasSlots =
    runs.table.count + fresh.length <= limits.tasksMax &&
    tasks.count + runs.promised + promised <= limits.tasksMax;
  if (fresh.length === 0) return undefined;
  if (!hasSlots || !runs.steps.hasRoomFor(frames)) return { rejection: 'too_many_tasks' };
  if (heldBytes + bytes > limits.payloadBytesMax * (1 - ROOM_FOR_STEPS))
    return { rejection: 'too_many_bytes' };
  if (dedupe.count + keys > dedupe.capacity) return { rejection: 'too_many_keys' };
  if (hasCallback && state.outbox.pendingCount >= limits.callbacksMax) {
    return { rejection: 'too_many_callbacks' };
  }
  const added = { payloadBytes: bytes, dedupeKeys: keys, tasks: fresh.length };
  const quota =
    exceededQuota(state, command.namespace, added) ??
    (exceedsRuns(state, command.namespace, fresh.length) ? 'runsMax' : undefined);
  return quota === undefined ? undefined : { rejection: 'quota_exceeded', quota };
}

interface CheckedRun {
  readonly at: number;
  readonly program: Program;
  /** Of all runs of the command. */
  readonly budget: CheckBudget;
}

function unfitInput(
  { runWork }: Decision,
  { inputs, inputEnds }: StartRuns,
  { at, program, budget }: CheckedRun,
): UnfitInput[] {
  const start = at === 0 ? 0 : inputEnds[at - 1];
  const input = { bytes: inputs, start, end: inputEnds[at] };
  return inputProblems(program, input, runWork.utf8, budget).map((problem) => ({ at, ...problem }));
}

/** Defaults are merged into the input, within the bound of a value. */
export function hasHugeInput({ inputDefaults }: Program, bytes: number): boolean {
  return inputDefaults.size > 0 && bytes > VALUE_BYTES_MAX / 2;
}

type NoProgram = 'workflow_not_found' | 'invalid_definition';

function programOf(decision: Decision, command: StartRuns, at: number): Program | NoProgram {
  const stored = findStored(decision, command, at);
  if (stored !== undefined) return decision.runWork.programs.of(stored);
  const { definition } = command.runs[at];
  return definition === undefined ? 'workflow_not_found' : compileNew(decision, definition.text);
}

function findStored(
  { state }: Decision,
  { namespace, runs }: StartRuns,
  at: number,
): StoredProgram | undefined {
  const { workflow, version, definition } = runs[at];
  if (definition !== undefined) return state.programs.inline(namespace, definition.hash);
  return state.programs.version(namespace, workflow, version);
}

/** The definition of the run, which becomes known if it came with the run. */
function takeStored(decision: Decision, command: StartRuns, at: number): StoredProgram {
  const known = findStored(decision, command, at);
  if (known !== undefined) return known;
  const { workflow, definition } = command.runs[at];
  invariant(definition !== undefined, 'a run has a definition');
  const { namespace } = command;
  const refused = register(decision, { namespace, name: workflow, version: 0, ...definition });
  const stored = findStored(decision, command, at);
  invariant(refused === undefined && stored !== undefined, 'a definition was checked before');
  return stored;
}

function start(decision: Decision, command: StartRuns, at: number): Slot {
  const { state, events, runWork } = decision;
  const spec = command.runs[at];
  const stored = takeStored(decision, command, at);
  const program = runWork.programs.of(stored);
  const event = events.runStarted;
  event.slot = state.runs.table.nextFree();
  event.task = state.nextTask;
  event.program = stored.place;
  event.base = state.runs.steps.nextFrame(stored.scopes[0].arrivals.length);
  event.priority = spec.priority ?? DEFAULT_PRIORITY;
  event.until = program.timeoutMs === 0 ? 0 : decision.now + program.timeoutMs;
  event.correlation = spec.correlationId?.toWellFormed() ?? '';
  event.tags = tagsText(spec.tags);
  const variables = runWork.utf8.encode(program.variables);
  Object.assign(event.variables, { bytes: variables, start: 0, end: variables.length });
  pointAt(event.input, command.inputs, command.inputEnds, at);
  runWork.spendBytes(inputBytes(command, at) + stored.text.length);
  fillDefaults(decision, program.inputDefaults, event.input);
  if (command.dedupe === undefined) event.dedupe.windowMs = 0;
  else pointAtClaim(event.dedupe, command.dedupe, at);
  decision.emit(event);
  return event.slot;
}

/** Members that an input object lacks come from the definition. */
export function fillDefaults(
  { runWork }: Decision,
  defaults: ReadonlyMap<string, string>,
  input: PayloadRange,
): void {
  if (defaults.size === 0) return;
  const { utf8, value } = runWork;
  const members = [...defaults].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  const bytes = utf8.encode(`{${members.join()}}`);
  const base = { bytes, start: 0, end: bytes.length };
  if (input.start === input.end) {
    Object.assign(input, base);
    return;
  }
  const over = wholeValue(input.bytes, input.start, input.end);
  if (kindOf(over) !== 'object') return;
  value.clear();
  mergeObjects(base, over, { into: value, utf8 });
  Object.assign(input, { bytes: value.bytes, start: 0, end: value.length });
}

function inputBytes({ inputEnds }: StartRuns, index: number): number {
  return inputEnds[index] - (index === 0 ? 0 : inputEnds[index - 1]);
}
