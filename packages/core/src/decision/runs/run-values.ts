import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { runIdText } from '../../base/run-id.ts';
import { taskIdText } from '../../base/task-id.ts';
import type { Utf8 } from '../../base/utf8.ts';
import { type JsonRange, wholeValue } from '../../expressions/json-bytes.ts';
import { JsonWriter } from '../../expressions/json-writer.ts';
import type { FoundSource, ValuePart } from '../../expressions/template.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { SUCCEEDED } from '../../task/task-state.ts';
import type { StepNode } from '../../workflow/program.ts';
import {
  RUN_STATES,
  STEP_CANCELLED,
  STEP_FAILED,
  STEP_SUCCEEDED,
  STEP_TIMED_OUT,
  STEP_WITH_ERRORS,
} from '../../workflow/run-state.ts';
import { BlobValues, isInBlob } from './blob-values.ts';
import type { Branches } from './branches.ts';
import { childIdOf } from './child-id.ts';
import { LoopValues } from './loop-values.ts';
import { type RunPlace, slotOf } from './run-place.ts';

/** Words of Conductor, which expressions and TERMINATE see. */
const STEP_STATUS = new Map([
  [STEP_SUCCEEDED, 'COMPLETED'],
  [STEP_WITH_ERRORS, 'COMPLETED_WITH_ERRORS'],
  [STEP_FAILED, 'FAILED'],
  [STEP_TIMED_OUT, 'TIMED_OUT'],
  [STEP_CANCELLED, 'CANCELED'],
]);

/**
 * Finds what an expression names in the payloads and columns of a run. A value is valid until the
 * next command, because the arena does not move payloads within one.
 */
export class RunValues {
  private readonly state: ReadonlyState;
  private readonly utf8: Utf8;
  readonly loops: LoopValues;
  readonly blobs: BlobValues;

  private readonly branches: Branches;

  constructor(state: ReadonlyState, utf8: Utf8, branches: Branches) {
    this.branches = branches;
    this.state = state;
    this.utf8 = utf8;
    this.blobs = new BlobValues(utf8);
    this.loops = new LoopValues(state.runs, this, utf8);
  }

  /**
   * Where the path of an expression begins; undefined when the value is missing. A path into a blob
   * is followed to its end.
   */
  find(where: RunPlace, part: ValuePart): FoundSource | undefined {
    const found = this.payloadWith(where, part);
    if (found === undefined || !isInBlob(found.range)) return found;
    const { path, isLength } = part.expression;
    const range = this.blobs.value(found.range, path.slice(found.used), isLength);
    return { range, used: path.length, isFinal: true };
  }

  private payloadWith(where: RunPlace, { expression }: ValuePart): FoundSource | undefined {
    const { run, program } = where;
    const [first] = expression.path;
    const field = first?.kind === 'name' ? first.name : '';
    if (expression.root === 'workflow') {
      const range = this.ofRun(run, field);
      return range === undefined ? undefined : { range, used: 1 };
    }
    const place = program.byReference.get(expression.root);
    if (place === undefined) return undefined;
    return this.ofStep(where, program.nodes[place], expression.path, field);
  }

  /** The output of a step, which may be a reference to a blob; undefined while it has none. */
  outputOf(where: RunPlace, node: StepNode): JsonRange | undefined {
    const { steps } = this.state.runs;
    const step = slotOf(this.state.runs, where, node);
    if (step === NO_SLOT) return undefined;
    if (steps.link[step] !== 0) return this.taskOutput(step);
    if (node.kind === 'DO_WHILE') return this.loops.whole(where, step, node);
    if (node.kind === 'JOIN' && steps.endedAt[step] !== 0) return this.joinOutput(where, node);
    // A step that did not succeed has an error there.
    if (steps.state[step] !== STEP_SUCCEEDED) return undefined;
    const output = this.payload(steps.output[step], steps.outputLength[step]);
    // A run without an output gave null.
    return node.kind === 'SUB_WORKFLOW' ? (output ?? this.json(null)) : output;
  }

  private taskOutput(step: number): JsonRange | undefined {
    const { tasks, runs } = this.state;
    const { steps } = runs;
    const task = (steps.link[step] - 1) as Slot;
    if (task < 0) {
      // Somebody may have completed it by a call.
      const isDone = steps.state[step] === STEP_SUCCEEDED;
      return isDone ? this.payload(steps.output[step], steps.outputLength[step]) : undefined;
    }
    // A task that did not succeed has an error there.
    if (tasks.state[task] !== SUCCEEDED) return undefined;
    return this.payload(tasks.result[task], tasks.resultLength[task]);
  }

  private ofRun(run: Slot, field: string): JsonRange | undefined {
    const { runs, programs } = this.state;
    const { table } = runs;
    const program = programs.at(table.program[run]);
    switch (field) {
      case 'input':
        return this.payload(table.input[run], table.inputLength[run]);
      case 'variables':
        return this.payload(table.variables[run], table.variablesLength[run]);
      case 'workflowId':
        return this.text(this.runId(run));
      case 'workflowType':
        return this.text(program.name);
      case 'version':
        return this.json(program.version);
      case 'correlationId':
        return this.json(runs.correlations.textAt(table.correlation[run]) || null);
      case 'status':
        return this.text(RUN_STATES[table.state[run]].toUpperCase());
      default:
        return undefined;
    }
  }

  private ofStep(
    place: RunPlace,
    node: StepNode,
    path: readonly unknown[],
    field: string,
  ): FoundSource | undefined {
    if (field === 'output' && node.kind === 'JOIN') {
      const member = this.memberOf(place, node, path[1]);
      if (member !== undefined) return member.range && { range: member.range, used: 2 };
    }
    if (field === 'output' && node.kind === 'DO_WHILE') {
      const step = slotOf(this.state.runs, place, node);
      return step === NO_SLOT ? undefined : this.loops.find(place, { step, node }, path);
    }
    const range = field === 'output' ? this.outputOf(place, node) : this.column(place, node, field);
    return range === undefined ? undefined : { range, used: 1 };
  }

  /**
   * The output of a join is virtual: a path into it leads to the member itself. Undefined when the
   * path names no member.
   */
  private memberOf(
    place: RunPlace,
    join: StepNode,
    step: unknown,
  ): { readonly range: JsonRange | undefined } | undefined {
    const { program } = place;
    const { kind, name } = (step ?? {}) as { kind?: string; name?: string };
    if (kind !== 'name' || name === undefined) return undefined;
    if (join.joinsFork >= 0) {
      const fork = slotOf(this.state.runs, place, program.nodes[join.joinsFork]);
      const branch = fork === NO_SLOT ? undefined : this.branches.find(fork, name);
      return branch === undefined ? undefined : { range: this.taskOutput(branch) };
    }
    const member = program.byReference.get(name);
    if (member === undefined || !join.members.includes(member)) return undefined;
    return { range: this.outputOf(place, program.nodes[member]) };
  }

  private joinOutput(place: RunPlace, join: StepNode): JsonRange {
    const joined = new JsonWriter();
    joined.ascii('{');
    for (const member of join.members) {
      const node = place.program.nodes[member];
      this.beginMember(joined);
      joined.copy(this.utf8.encode(JSON.stringify(node.reference)));
      this.endMember(joined, this.outputOf(place, node));
    }
    for (const branch of this.joinedBranches(place, join)) {
      this.beginMember(joined);
      this.branches.writeReference(branch, joined);
      this.endMember(joined, this.taskOutput(branch));
    }
    joined.ascii('}');
    return { bytes: joined.bytes, start: 0, end: joined.length };
  }

  private beginMember(joined: JsonWriter): void {
    if (joined.length > 1) joined.comma();
  }

  private endMember(joined: JsonWriter, output: JsonRange | undefined): void {
    joined.ascii(':');
    if (output === undefined) joined.ascii('null');
    else joined.range(this.blobs.whole(output));
  }

  /** The slots of the branches that a join of a dynamic fork waited for. */
  private *joinedBranches(place: RunPlace, { joinsFork }: StepNode): Iterable<number> {
    if (joinsFork < 0) return;
    const { steps } = this.state.runs;
    const fork = slotOf(this.state.runs, place, place.program.nodes[joinsFork]);
    if (fork === NO_SLOT || steps.inner[fork] === 0) return;
    const first = steps.inner[fork] - 1;
    for (let branch = first; branch < first + steps.items[fork]; branch++) yield branch;
  }

  private column(where: RunPlace, node: StepNode, field: string): JsonRange | undefined {
    const { runs, tasks } = this.state;
    const { steps } = runs;
    const step = slotOf(runs, where, node);
    if (step === NO_SLOT) return undefined;
    const task = steps.link[step] - 1;
    switch (field) {
      case 'status':
        return this.json(STEP_STATUS.get(steps.state[step]) ?? null);
      case 'taskType':
        return this.text(this.typeOf(step, node));
      case 'taskDefName':
        return this.text(node.name);
      case 'referenceTaskName':
        return this.text(node.reference);
    }
    if (task < 0) return this.ownColumn(step, field);
    switch (field) {
      case 'input':
        return this.payload(tasks.input[task], tasks.inputLength[task]);
      case 'taskId':
        return this.text(this.taskId(task));
      case 'startTime':
        return this.json(tasks.startedAt[task] || tasks.leasedAt[task] || null);
      case 'endTime':
        return this.json(tasks.endedAt[task] || null);
      default:
        return this.json(Math.max(0, tasks.attempt[task] - 1));
    }
  }

  private typeOf(step: number, { kind, name }: StepNode): string {
    const task = this.state.runs.steps.link[step] - 1;
    if (kind !== 'DYNAMIC' || task < 0) return kind === 'SIMPLE' ? name : kind;
    return this.state.typeOf(task as Slot);
  }

  /** What a step without a task knows itself. */
  private ownColumn(step: number, field: string): JsonRange | undefined {
    const { steps } = this.state.runs;
    if (field === 'startTime') return this.json(steps.startedAt[step] || null);
    if (field === 'endTime') return this.json(steps.endedAt[step] || null);
    if (field === 'subWorkflowId' && steps.child[step] !== 0) {
      return this.text(childIdOf(this.state, step));
    }
    return field === 'input' ? this.payload(steps.input[step], steps.inputLength[step]) : undefined;
  }

  /** A payload, or the reference to the blob that has it; undefined for none. */
  payload(reference: number, length: number): JsonRange | undefined {
    if (length === 0) return undefined;
    const bytes = this.state.payloads.bytesOf(reference);
    const start = this.state.payloads.startOf(reference);
    return wholeValue(bytes, start, start + length);
  }

  private text(text: string): JsonRange {
    return this.json(text);
  }

  json(value: unknown): JsonRange {
    const bytes = this.utf8.encode(JSON.stringify(value));
    return { bytes, start: 0, end: bytes.length };
  }

  private runId(run: Slot): string {
    const { table } = this.state.runs;
    const number = table.number[run] as TaskNumber;
    return runIdText({
      submittedAt: table.startedAt[run],
      partition: this.state.partition,
      number,
    });
  }

  private taskId(task: number): string {
    const { tasks, partition } = this.state;
    const number = tasks.number[task] as TaskNumber;
    return taskIdText({ submittedAt: tasks.submittedAt[task], partition, number });
  }
}
