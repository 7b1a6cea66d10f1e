import {
  hasThreeDecimals,
  isLabelName,
  isLabelValue,
  LABEL_RULE,
  parseConstraint,
  VALUE_RULE,
} from '@sluice/core';
import type { ErrorDetail } from '@sluice/protocol';

/** What the rules of the protocol need to know of the core. */
export const CORE_RULES = { hasThreeDecimals, parseConstraint };

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
