import { type Constraint, constraintText, parseConstraint } from './constraints.ts';
import { invariant } from './invariant.ts';
import { type Amount, amountsOf, type Resources } from './resources.ts';

/**
 * What decides on which workers a task fits: its resources and its constraints. Tasks of one shape
 * fit on the same workers, so matching asks once per shape and not once per task.
 */
export interface Shape {
  /** Whole slots; 1 unless stated, also when other resources are given. */
  readonly slots: number;
  readonly needs: readonly Amount[];
  readonly constraints: readonly Constraint[];
  readonly resources: Resources;
  readonly constraintTexts: readonly string[];
}

interface ShapeSpec {
  readonly resources?: Resources;
  readonly constraints?: readonly string[];
}

const PLAIN: Shape = {
  slots: 1,
  needs: [],
  constraints: [],
  resources: { slots: 1 },
  constraintTexts: [],
};

/**
 * The same text for the same shape; the empty one for a single slot without constraints. It is what
 * events and state hold. The order of constraints and of values in a list says nothing, nor does a
 * resource of which 0 is needed.
 */
export function shapeText({ resources, constraints }: ShapeSpec): string {
  if (resources === undefined && constraints === undefined) return '';
  const shape = canonical(resources ?? {}, constraints ?? []);
  const isPlain = shape.slots === 1 && shape.needs.length + shape.constraintTexts.length === 0;
  if (isPlain) return '';
  return JSON.stringify({ resources: shape.resources, constraints: shape.constraintTexts });
}

export function parseShape(text: string): Shape {
  if (text === '') return PLAIN;
  const { resources, constraints } = JSON.parse(text) as Required<ShapeSpec>;
  return canonical(resources, constraints);
}

function canonical(given: Resources, texts: readonly string[]): Shape {
  const byText = new Map(texts.map(parsed).map((each) => [constraintText(each), each]));
  const constraintTexts = [...byText.keys()].toSorted();
  const slots = given.slots ?? 1;
  const needs = amountsOf(given);
  const custom: Record<string, number> = {};
  const resources: Record<string, unknown> = {};
  for (const { name, thousandths } of needs) {
    if (name.startsWith('custom.')) custom[name.slice('custom.'.length)] = thousandths / 1000;
    else resources[name] = thousandths / 1000;
  }
  resources.slots = slots;
  if (Object.keys(custom).length > 0) resources.custom = custom;
  return { slots, needs, constraints: [...byText.values()], resources, constraintTexts };
}

/** Whoever makes a command has checked the texts with `parseConstraint`. */
function parsed(text: string): Constraint {
  const constraint = parseConstraint(text);
  invariant(typeof constraint !== 'string', 'a constraint is checked before it is submitted');
  return constraint;
}
