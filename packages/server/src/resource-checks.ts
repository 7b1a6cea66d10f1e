import {
  hasThreeDecimals,
  isLabelName,
  isLabelValue,
  LABEL_RULE,
  parseConstraint,
  type Resources,
  VALUE_RULE,
} from '@sluice/core';
import type { ErrorDetail } from '@sluice/protocol';

/** What schemas cannot say of resources, constraints and labels. Problems name the field. */

/** Sums are kept in thousandths, so that no more can be asked for or offered. */
export function checkResources(resources: Resources, path: string, problems: ErrorDetail[]): void {
  const { cpu = 0, custom = {} } = resources;
  const fractions = Object.entries(custom).map(([name, value]) => [`custom/${name}`, value]);
  for (const [name, value] of [['cpu', cpu], ...fractions] as [string, number][]) {
    if (hasThreeDecimals(value)) continue;
    problems.push({ path: `${path}/${name}`, problem: 'must have at most three decimals' });
  }
}

export function checkConstraints(
  texts: readonly string[],
  path: string,
  problems: ErrorDetail[],
): void {
  texts.forEach((text, index) => {
    const constraint = parseConstraint(text);
    if (typeof constraint === 'string') {
      problems.push({ path: `${path}/${index}`, problem: constraint });
    }
  });
}

/** A label that no constraint could name would be of no use to anybody. */
export function checkLabels(
  labels: Readonly<Record<string, string>>,
  path: string,
  problems: ErrorDetail[],
): void {
  for (const [name, value] of Object.entries(labels)) {
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!isLabelName(name)) problems.push({ path: at, problem: `is not a label: ${LABEL_RULE}` });
    else if (!isLabelValue(value)) problems.push({ path: at, problem: VALUE_RULE });
  }
}
