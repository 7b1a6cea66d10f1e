/**
 * ISO 8601 with a zone: without one, the same text would mean different times on different
 * machines.
 */
export const TIME_PATTERN =
  '^(\\d{4})-(\\d\\d)-(\\d\\d)T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:?[0-5]\\d)$';
