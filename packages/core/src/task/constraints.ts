/**
 * What a task requires of a worker's labels: `zone == eu`, `zone != eu`, `zone in (eu, us)`, `zone
 * not in (eu, us)`, `exists gpu-model`.
 *
 * `!=` and `not in` also hold for a worker without the label: they exclude only workers that have
 * an excluded value.
 */
export interface Constraint {
  readonly label: string;
  /** Whether the label has one of `values`, or exists at all; or the opposite. */
  readonly holdsIf: 'in' | 'not in' | 'exists';
  readonly values: readonly string[];
}

export type Labels = ReadonlyMap<string, string>;

const LABEL = /^[A-Za-z0-9._/-]{1,64}$/;
const VALUE_LENGTH_MAX = 128;

/** Longer texts are refused before they are parsed. */
const CONSTRAINT_LENGTH_MAX = 1024;

const FORMS = 'label == value, label != value, label in (a, b), label not in (a, b), exists label';

/** Returns the constraint, or what is wrong with the text. */
export function parseConstraint(text: string): Constraint | string {
  if (text.length > CONSTRAINT_LENGTH_MAX) return `is longer than ${CONSTRAINT_LENGTH_MAX}`;
  const words = text.trim();
  const compared = /^(\S+?)\s*(==|!=)(.*)$/s.exec(words);
  if (compared !== null) return comparison(compared[1], compared[2], [compared[3]]);
  const listed = /^(\S+)\s+(in|not\s+in)\s*\(([^()]*)\)$/s.exec(words);
  if (listed !== null) return comparison(listed[1], listed[2], listed[3].split(','));
  const existing = /^exists\s+(\S+)$/.exec(words);
  if (existing !== null) return named(existing[1], { holdsIf: 'exists', values: [] });
  return `must have one of the forms ${FORMS}`;
}

function comparison(
  label: string,
  operator: string,
  texts: readonly string[],
): Constraint | string {
  const values = texts.map((text) => text.trim());
  if (values.includes(''))
    return `has an empty value; a value has 1 to ${VALUE_LENGTH_MAX} letters`;
  const bad = values.find((value) => !isLabelValue(value));
  if (bad !== undefined) return `has the value '${bad}'; ${VALUE_RULE}`;
  const holdsIf = operator === '==' || operator === 'in' ? 'in' : 'not in';
  return named(label, { holdsIf, values: [...new Set(values)].toSorted() });
}

function named(label: string, rest: Omit<Constraint, 'label'>): Constraint | string {
  return isLabelName(label) ? { label, ...rest } : `has the label '${label}'; ${LABEL_RULE}`;
}

export const LABEL_RULE = 'a label has 1 to 64 letters, digits and . _ / -';
export const VALUE_RULE = 'a value has 1 to 128 characters, none of them ( ) , = or a control code';

export function isLabelName(text: string): boolean {
  return LABEL.test(text);
}

/** Whether a constraint could name this value. Workers may only have such values. */
export function isLabelValue(text: string): boolean {
  if (text.length === 0 || text.length > VALUE_LENGTH_MAX || text.trim() !== text) return false;
  // The log holds UTF-8, which has no lone surrogates.
  if (!text.isWellFormed()) return false;
  for (const character of text) {
    if ('(),='.includes(character) || character < ' ') return false;
  }
  return true;
}

/** Canonical: the same constraint always gives the same text. */
export function constraintText({ label, holdsIf, values }: Constraint): string {
  if (holdsIf === 'exists') return `exists ${label}`;
  if (values.length > 1) return `${label} ${holdsIf} (${values.join(', ')})`;
  return `${label} ${holdsIf === 'in' ? '==' : '!='} ${values[0]}`;
}

export function holds({ label, holdsIf, values }: Constraint, labels: Labels): boolean {
  const value = labels.get(label);
  if (holdsIf === 'exists') return value !== undefined;
  const isListed = value !== undefined && values.includes(value);
  return holdsIf === 'in' ? isListed : !isListed;
}
