import { invariant } from '../../base/invariant.ts';
import type { Utf8 } from '../../base/utf8.ts';
import {
  elementsOf,
  headsOf,
  isText,
  type JsonRange,
  kindOf,
  membersOf,
} from '../../expressions/json-bytes.ts';
import type { JsonWriter } from '../../expressions/json-writer.ts';
import type { BranchList } from '../../state/runs/branch-lists.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import type { StepKind } from '../../workflow/program.ts';

/**
 * The branches of a dynamic fork. They are listed once, in the input of the fork:
 *
 * - `{"reference":"_resize_","name":"resize","items":[…]}`: a branch for each item, of one type.
 *   Its reference is the prefix and its number, its input the item. With `"workflow":"2"`, each
 *   branch runs version 2 of the workflow of this name; version 0 is the newest.
 * - `{"branches":[{"reference":"a","name":"resize","input":{…}},…]}`: each branch says what it is.
 *   One that runs a workflow has its version as `"workflow":2`.
 */
export interface Branch {
  readonly reference: string;
  readonly name: string;
  /** Version of the workflow that it runs, 0 for the newest; undefined for a task. */
  readonly workflow: number | undefined;
  readonly isOptional: boolean;
  /** What the branch says of its task. */
  readonly task: Partial<TaskSpec>;
}

/** An element of `branches`. */
export interface ListedBranch {
  readonly reference: string;
  readonly name: string;
  readonly input: unknown;
  readonly workflow?: number;
  readonly optional?: boolean;
  readonly task?: Partial<TaskSpec>;
}

interface ForkInput {
  readonly reference?: string;
  readonly name?: string;
  readonly workflow?: string;
  readonly items?: readonly unknown[];
  readonly branches?: readonly ListedBranch[];
}

interface ShownBranch extends Pick<Branch, 'reference' | 'name'> {
  readonly kind: StepKind;
}

/** What is shown of the branches, from the whole input of the fork. */
export function branchesOf(input: string): ShownBranch[] {
  const { reference, name = '', workflow, items = [], branches } = JSON.parse(input) as ForkInput;
  const kind = kindOfBranch(workflow);
  return branches === undefined
    ? items.map((_, index) => ({ reference: `${reference}${index}`, name, kind }))
    : branches.map((each) => {
        return { reference: each.reference, name: each.name, kind: kindOfBranch(each.workflow) };
      });
}

export function kindOfBranch(workflow: unknown): StepKind {
  return workflow === undefined ? 'SIMPLE' : 'SUB_WORKFLOW';
}

/** Finds branches. Volatile, as is what it knows. */
export class Branches {
  private readonly state: ReadonlyState;
  private readonly utf8: Utf8;
  private readonly spendBytes: (bytes: number) => void;

  constructor(state: ReadonlyState, utf8: Utf8, spendBytes = (_bytes: number): void => undefined) {
    this.state = state;
    this.utf8 = utf8;
    this.spendBytes = spendBytes;
  }

  /** The branch in this slot. */
  at(step: number): Branch {
    const { fork, index } = this.numberOf(step);
    const list = this.listOf(fork);
    if (list.prefix !== '') {
      const common = { name: list.name, workflow: list.workflow };
      const reference = `${list.prefix}${index}`;
      return { reference, ...common, isOptional: false, task: {} };
    }
    const { bytes, start, end } = this.element(fork, index);
    const text = this.utf8.decode(bytes.subarray(start, end));
    const branch = JSON.parse(text) as ListedBranch;
    const { reference, name, workflow, optional = false, task = {} } = branch;
    return { reference, name, workflow, isOptional: optional, task };
  }

  /** Appends the reference of the branch in this slot as a JSON text. */
  writeReference(step: number, into: JsonWriter): void {
    const { fork, index } = this.numberOf(step);
    const { prefix } = this.listOf(fork);
    if (prefix === '') return into.range(this.listedReference(fork, index));
    const text = JSON.stringify(`${prefix}${index}`);
    // Most prefixes are ASCII, and there may be thousands of branches.
    if (!into.ascii(text)) into.copy(this.utf8.encode(text));
  }

  /** Appends the input of the branch in this slot. */
  writeInput(step: number, into: JsonWriter): void {
    const { fork, index } = this.numberOf(step);
    const element = this.element(fork, index);
    if (this.listOf(fork).prefix === '') {
      for (const { name, value } of membersOf(element)) {
        if (isText(name, INPUT, this.utf8)) into.range(value);
      }
      return;
    }
    const number = this.utf8.encode(`"__index":${index}}`);
    if (kindOf(element) === 'object') {
      const members = [...membersOf(element)];
      if (members.some(({ name }) => isText(name, INDEX, this.utf8))) return into.range(element);
      into.copy(element.bytes, element.start, element.end - 1);
      if (members.length > 0) into.comma();
    } else {
      into.copy(this.utf8.encode('{"input":'));
      into.range(element);
      into.comma();
    }
    into.copy(number);
  }

  /** The slot of the branch with this reference; undefined when the fork has no such branch. */
  find(fork: number, reference: string): number | undefined {
    const { inner, items } = this.state.runs.steps;
    if (inner[fork] === 0) return undefined;
    const { prefix } = this.listOf(fork);
    const first = inner[fork] - 1;
    if (prefix !== '') {
      const index = reference.startsWith(prefix) ? reference.slice(prefix.length) : '';
      const isNumber = /^(0|[1-9]\d*)$/.test(index) && Number(index) < items[fork];
      return isNumber ? first + Number(index) : undefined;
    }
    const wanted = this.utf8.encode(reference);
    for (let index = 0; index < items[fork]; index++) {
      if (isText(this.listedReference(fork, index), wanted, this.utf8)) return first + index;
    }
    return undefined;
  }

  private numberOf(step: number): { readonly fork: number; readonly index: number } {
    const { owner, inner } = this.state.runs.steps;
    const fork = owner[step] - 1;
    return { fork, index: step - (inner[fork] - 1) };
  }

  private element(fork: number, index: number): JsonRange {
    const { bytes, start } = this.startOf(fork, index);
    for (const element of elementsOf({ bytes, start, end: start }, start)) return element;
    throw new Error('a branch has an element');
  }

  /** The reference that the element of a branch states, in quotes. The rest is not read. */
  private listedReference(fork: number, index: number): JsonRange {
    for (const { name, value } of membersOf(this.startOf(fork, index))) {
      if (isText(name, REFERENCE, this.utf8)) return value;
    }
    throw new Error('a branch has a reference');
  }

  /** Where the element of a branch begins. To find its end is to read it. */
  private startOf(fork: number, index: number): JsonRange {
    const { bytes, start } = this.input(fork);
    const from = start + this.listOf(fork).starts[index];
    return { bytes, start: from, end: from };
  }

  private listOf(fork: number): BranchList {
    return this.state.runs.branches.of(fork, () => this.read(fork));
  }

  private read(fork: number): BranchList {
    const input = this.input(fork);
    this.spendBytes(input.end - input.start);
    const starts: number[] = [];
    const texts = new Map<string, string>();
    // The list comes last. It may be long, so it is read once, and not to find its end.
    const { heads, list: listed } = headsOf(input);
    for (const { name, value } of heads) texts.set(this.parsed(name), this.parsed(value));
    for (const element of elementsOf(listed)) starts.push(element.start - input.start);
    const list = Uint32Array.from(starts);
    const version = texts.get('workflow');
    return {
      prefix: texts.get('reference') ?? '',
      name: texts.get('name') ?? '',
      workflow: version === undefined ? undefined : Number(version),
      starts: list,
    };
  }

  private parsed({ bytes, start, end }: JsonRange): string {
    return String(JSON.parse(this.utf8.decode(bytes.subarray(start, end))));
  }

  private input(fork: number): JsonRange {
    const { payloads, runs } = this.state;
    const { input, inputLength } = runs.steps;
    invariant(inputLength[fork] > 0, 'a fork with branches has its list');
    const start = payloads.startOf(input[fork]);
    return { bytes: payloads.bytesOf(input[fork]), start, end: start + inputLength[fork] };
  }
}

const INPUT = Uint8Array.from([0x69, 0x6e, 0x70, 0x75, 0x74]);
/** `reference` */
const REFERENCE = Uint8Array.from([0x72, 0x65, 0x66, 0x65, 0x72, 0x65, 0x6e, 0x63, 0x65]);
/** `__index` */
const INDEX = Uint8Array.from([0x5f, 0x5f, 0x69, 0x6e, 0x64, 0x65, 0x78]);
