import {
  hasThreeDecimals,
  isLabelName,
  isLabelValue,
  LABEL_RULE,
  parseConstraint,
  VALUE_RULE,
} from '@sluice/core';
import type { ErrorDetail } from '@sluice/protocol';

/** Rules of the core that the protocol's checks need. */
export const CORE_RULES = { hasThreeDecimals, parseConstraint };

/** A label that no constraint can name is useless, so it is refused. */
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
