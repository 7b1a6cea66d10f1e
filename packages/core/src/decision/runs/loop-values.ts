import { NO_SLOT } from '../../base/ids.ts';
import type { Utf8 } from '../../base/utf8.ts';
import { elementsOf, type JsonRange } from '../../expressions/json-bytes.ts';
import { JsonWriter } from '../../expressions/json-writer.ts';
import type { FoundSource } from '../../expressions/template.ts';
import type { RunsReader } from '../../state/runs/runs.ts';
import type { StepNode } from '../../workflow/program.ts';
import type { BlobValues } from './blob-values.ts';
import { frameAt, type RunPlace } from './run-place.ts';

/** What the values of loops are made of. */
interface Outputs {
  outputOf(where: RunPlace, node: StepNode): JsonRange | undefined;
  payload(reference: number, length: number): JsonRange | undefined;
  json(value: unknown): JsonRange;
  readonly blobs: Pick<BlobValues, 'whole'>;
}

/** The input of a loop over a list begins with this, then comes the list. */
export const ITEMS_LEAD = '{"items":';

const HINTS_MAX = 1000;

/** A loop and its slot. */
interface LoopStep {
  readonly step: number;
  readonly node: StepNode;
}

/**
 * The output of a loop: `iteration`, for a list also `loopItem` and `loopIndex`, and the outputs of
 * each iteration by its number. It is virtual: a path leads to the step that it names.
 */
export class LoopValues {
  private readonly runs: RunsReader;
  private readonly outputs: Outputs;
  private readonly utf8: Utf8;
  /** Where each loop found its last element. Each one finds the next without reading the list. */
  private readonly hints = new Map<number, { index: number; offset: number }>();

  constructor(runs: RunsReader, outputs: Outputs, utf8: Utf8) {
    this.runs = runs;
    this.outputs = outputs;
    this.utf8 = utf8;
  }

  /** A loop in this slot begins: what is known of the one before it no longer holds. */
  begins(step: number): void {
    this.hints.delete(step);
  }

  /** Where a path into the output begins; its first step is `output`. */
  find(where: RunPlace, loop: LoopStep, path: readonly unknown[]): FoundSource | undefined {
    const { iteration, startedAt } = this.runs.steps;
    if (startedAt[loop.step] === 0) return undefined;
    const first = nameOf(path[1]);
    const found = (range: JsonRange | undefined, used: number): FoundSource | undefined =>
      range === undefined ? undefined : { range, used };
    if (first === 'iteration') return found(this.outputs.json(iteration[loop.step]), 2);
    if (first === 'loopIndex' || first === 'loopItem') {
      const item = this.item(loop, iteration[loop.step] - 1);
      const isIndex = item !== undefined && first === 'loopIndex';
      return found(isIndex ? this.outputs.json(iteration[loop.step] - 1) : item, 2);
    }
    if (first === '') return found(this.whole(where, loop.step, loop.node), 1);
    const isNumber = /^\d+$/.test(first);
    const frame = isNumber ? frameAt(this.runs, loop.step, Number(first)) : NO_SLOT;
    if (frame === NO_SLOT) return undefined;
    const wanted = nameOf(path[2]);
    const node = this.bodyOf(where, loop.node).find(({ reference }) => reference === wanted);
    if (node !== undefined) return found(this.outputs.outputOf({ ...where, frame }, node), 3);
    return path.length > 2 ? undefined : found(this.ofIteration(where, loop.node, frame), 2);
  }

  /** The whole output, within the bound of a value. */
  whole(where: RunPlace, step: number, node: StepNode): JsonRange | undefined {
    const { steps } = this.runs;
    // It was not reached.
    if (steps.startedAt[step] === 0) return undefined;
    const written = new JsonWriter();
    const add = (text: string): void => written.copy(this.utf8.encode(text));
    add(`{"iteration":${steps.iteration[step]}`);
    let iteration = steps.iteration[step];
    const item = this.item({ step, node }, iteration - 1);
    if (item !== undefined) {
      add(`,"loopIndex":${iteration - 1},"loopItem":`);
      written.range(item);
    }
    for (let each = steps.inner[step]; each !== 0; each = steps.earlier[each - 1]) {
      add(`,"${iteration}":`);
      written.range(this.ofIteration(where, node, each - 1));
      iteration -= 1;
    }
    add('}');
    return { bytes: written.bytes, start: 0, end: written.length };
  }

  /** The outputs of one iteration, by reference. */
  ofIteration(where: RunPlace, loop: StepNode, frame: number): JsonRange {
    const written = new JsonWriter();
    let lead = '{';
    for (const node of this.bodyOf(where, loop)) {
      const output = this.outputs.outputOf({ ...where, frame }, node);
      if (output === undefined) continue;
      written.copy(this.utf8.encode(`${lead}${JSON.stringify(node.reference)}:`));
      written.range(this.outputs.blobs.whole(output));
      lead = ',';
    }
    written.copy(this.utf8.encode(lead === '{' ? '{}' : '}'));
    return { bytes: written.bytes, start: 0, end: written.length };
  }

  /** An element of the list that the loop goes over. */
  private item({ step, node }: LoopStep, index: number): JsonRange | undefined {
    const { steps } = this.runs;
    if (node.loop?.items === undefined || index < 0 || index >= steps.items[step]) return undefined;
    const input = this.outputs.payload(steps.input[step], steps.inputLength[step]);
    if (input === undefined) return undefined;
    const list = { ...input, start: input.start + ITEMS_LEAD.length };
    const hint = this.hints.get(step);
    const isUsable = hint !== undefined && hint.index <= index;
    let place = isUsable ? hint.index : 0;
    const from = isUsable ? input.start + hint.offset : list.start + 1;
    for (const element of elementsOf(list, from)) {
      if (place === index) {
        if (this.hints.size >= HINTS_MAX) this.hints.clear();
        this.hints.set(step, { index, offset: element.start - input.start });
        return element;
      }
      place += 1;
    }
    return undefined;
  }

  private bodyOf({ program }: RunPlace, { loop }: StepNode): readonly StepNode[] {
    const { first, arrivals } = program.scopes[loop?.scope ?? 0];
    return program.nodes.slice(first, first + arrivals.length);
  }
}

function nameOf(step: unknown): string {
  const { kind, name } = (step ?? {}) as { kind?: string; name?: string };
  return kind === 'name' && name !== undefined ? name : '';
}
