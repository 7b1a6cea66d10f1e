/** The contents of a segment's file name, which its header repeats. */
export interface SegmentName {
  readonly baseTail: number;
  readonly epoch: number;
}

const BASE_TAIL_DIGITS = 16;
const EPOCH_DIGITS = 10;
const PATTERN = new RegExp(`^(\\d{${BASE_TAIL_DIGITS}})-(\\d{${EPOCH_DIGITS}})\\.log$`);

/**
 * The digits are padded so that the order of names is the order of the log: by the first record,
 * then by epoch, because a new epoch may start where an earlier one wrote nothing.
 */
export function formatSegmentName({ baseTail, epoch }: SegmentName): string {
  const first = String(baseTail).padStart(BASE_TAIL_DIGITS, '0');
  return `${first}-${String(epoch).padStart(EPOCH_DIGITS, '0')}.log`;
}

/** Undefined for a file that is not a segment. */
export function parseSegmentName(file: string): SegmentName | undefined {
  const match = PATTERN.exec(file);
  if (match === null) return undefined;
  return { baseTail: Number(match[1]), epoch: Number(match[2]) };
}
