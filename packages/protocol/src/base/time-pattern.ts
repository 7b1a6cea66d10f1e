/**
 * ISO 8601 with a zone: without one, the same text would mean different times on different
 * machines.
 */
export const TIME_PATTERN =
  '^(\\d{4})-(\\d\\d)-(\\d\\d)T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:?[0-5]\\d)$';

/** For the document: a time before 1970 is refused, and in 1970 that depends on its zone. */
export const DOCUMENTED_TIME_PATTERN = TIME_PATTERN.replace(
  '(\\d{4})',
  '(197[1-9]|19[89]\\d|[2-9]\\d{3})',
);
