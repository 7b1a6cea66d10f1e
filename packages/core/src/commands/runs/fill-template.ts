import type { Decision } from '../../decision/decision.ts';
import type { RunPlace } from '../../decision/run-place.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import type { Template } from '../../workflow/template.ts';
import { NOTHING } from './end-steps.ts';

/** Fills a template. The result is valid until the next one. */
export function fill({ runWork }: Decision, where: RunPlace, template: Template): PayloadRange {
  const { value, filler, values } = runWork;
  value.clear();
  filler.fill(template, (part) => values.find(where, part), value);
  return value.length === 0 ? NOTHING : { bytes: value.bytes, start: 0, end: value.length };
}

/** Fills a template and parses the result. */
export function fillAndParse(decision: Decision, where: RunPlace, template: Template): unknown {
  const { bytes, start, end } = fill(decision, where, template);
  return start === end
    ? null
    : JSON.parse(decision.runWork.utf8.decode(bytes.subarray(start, end)));
}

export function jsonBytes({ runWork }: Decision, value: unknown): PayloadRange {
  const bytes = runWork.utf8.encode(JSON.stringify(value));
  return { bytes, start: 0, end: bytes.length };
}
