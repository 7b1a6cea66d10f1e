import { invariant } from '../base/invariant.ts';
import { type Constraint, constraintText, parseConstraint } from './constraints.ts';
import { type CustomAmount, customOf, KINDS, needsOf, type Resources } from './resources.ts';

/**
 * The resources and constraints of a task, which decide on which workers it fits. All tasks of one
 * shape fit on the same workers, so matching checks once per shape and not once per task.
 */
export interface Shape {
  /** By kind, in thousandths; one slot unless stated, even when other resources are given. */
  readonly needs: Float64Array;
  readonly custom: readonly CustomAmount[];
  readonly constraints: readonly Constraint[];
  readonly resources: Resources;
  readonly constraintTexts: readonly string[];
  /** Undefined where the setting of the server counts. */
  readonly placement: Placement | undefined;
}

/** Which worker with room gets a task: the one with most room, or the one that it fills best. */
export type Placement = 'spread' | 'pack';

export interface ShapeSpec {
  readonly resources?: Resources | undefined;
  readonly constraints?: readonly string[] | undefined;
  readonly placement?: Placement | undefined;
}

const PLAIN: Shape = canonical({}, []);
const PLAIN_JSON = jsonOf(PLAIN);

/**
 * Canonical: the same shape gives the same text; empty for a single slot without constraints.
 * Events and state hold this text. The order of constraints and of values in a list does not
 * matter, nor does a resource with amount 0.
 */
export function shapeText({ resources, constraints, placement }: ShapeSpec): string {
  if (resources === undefined && constraints === undefined && placement === undefined) return '';
  const text = jsonOf(canonical(resources ?? {}, constraints ?? [], placement));
  return text === PLAIN_JSON ? '' : text;
}

export function parseShape(text: string): Shape {
  if (text === '') return PLAIN;
  const { resources, constraints, placement } = JSON.parse(text) as {
    resources: Resources;
    constraints: string[];
    placement?: Placement;
  };
  return canonical(resources, constraints, placement);
}

function canonical(given: Resources, texts: readonly string[], placement?: Placement): Shape {
  const byText = new Map(texts.map(parsed).map((each) => [constraintText(each), each]));
  const constraintTexts = [...byText.keys()].toSorted();
  const needs = needsOf({ slots: 1, ...given });
  const custom = customOf(given);
  const resources: Record<string, unknown> = {};
  KINDS.forEach((kind, index) => {
    if (needs[index] > 0) resources[kind] = needs[index] / 1000;
  });
  if (custom.length > 0) {
    const entries = custom.map(({ name, thousandths }) => [name, thousandths / 1000]);
    resources.custom = Object.fromEntries(entries);
  }
  const constraints = [...byText.values()];
  return { needs, custom, constraints, resources, constraintTexts, placement };
}

function jsonOf({ resources, constraintTexts, placement }: Shape): string {
  return JSON.stringify({ resources, constraints: constraintTexts, placement });
}

/** The creator of a command has checked the texts with `parseConstraint`. */
function parsed(text: string): Constraint {
  const constraint = parseConstraint(text);
  invariant(typeof constraint !== 'string', 'a constraint is checked before it is submitted');
  return constraint;
}
