import type { Decision } from '../../decision/decision.ts';
import type { RunPlace } from '../../decision/runs/run-place.ts';
import { jsonText } from '../../expressions/json-writer.ts';
import type { Template } from '../../expressions/template.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { NOTHING, type StepVisit } from '../runs/end-steps.ts';

/** Fills a template. The result is valid until the next one. */
export function fill({ runWork }: Decision, where: RunPlace, template: Template): PayloadRange {
  const { value, filler, values } = runWork;
  value.clear();
  filler.fill(template, (part) => values.find(where, part), value);
  return value.length === 0 ? NOTHING : { bytes: value.bytes, start: 0, end: value.length };
}

/**
 * The input of a step: as its definition says, unless a rerun gave another one. A branch of a
 * dynamic fork has it from the list of the fork.
 */
export function fillInput({ decision, step, node, ...at }: StepVisit): PayloadRange {
  const { steps } = decision.state.runs;
  const { value, values, branches } = decision.runWork;
  if (steps.inputLength[step] === 0) {
    if (!at.program.scopes[node.scope].isFork) return fill(decision, at, node.input);
    value.clear();
    branches.writeInput(step, value);
    return { bytes: value.bytes, start: 0, end: value.length };
  }
  const given = values.payload(steps.input[step], steps.inputLength[step]);
  value.clear();
  // A copy, because the event that has it may move the payloads.
  if (given !== undefined) value.range(given);
  return { bytes: value.bytes, start: 0, end: value.length };
}

/** Fills a template and parses the result. */
export function fillAndParse(decision: Decision, where: RunPlace, template: Template): unknown {
  return parsed(decision, fill(decision, where, template));
}

export function parsed({ runWork }: Decision, { bytes, start, end }: PayloadRange): unknown {
  return start === end ? null : JSON.parse(runWork.utf8.decode(bytes.subarray(start, end)));
}

export function jsonBytes({ runWork }: Decision, value: unknown): PayloadRange {
  const bytes = runWork.utf8.encode(jsonText(value));
  return { bytes, start: 0, end: bytes.length };
}
