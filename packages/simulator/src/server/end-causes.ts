/** Errors that a failing disk causes, as opposed to bugs of the server. */
const EXPECTED = ['LogFailedError', 'LogFullError', 'DiskError'];

/** Codes of the ordered disk faults. A missing file, for example, is a bug of the server. */
const DISK_CODES: readonly unknown[] = ['EIO', 'ENOSPC'];

export function isCausedByDisk(root: Error): boolean {
  return EXPECTED.includes(root.name) && isOfDisk(root);
}

/** Whether the error is one that a disk fault can cause. An error without a code counts as one. */
function isOfDisk(cause: Error & { code?: unknown }): boolean {
  if (cause.cause instanceof Error) return isOfDisk(cause.cause);
  return cause.code === undefined || DISK_CODES.includes(cause.code);
}

/** What ended the server. */
export function rootOf(cause: Error): Error {
  return cause.name === 'EngineStoppedError' && cause.cause instanceof Error
    ? rootOf(cause.cause)
    : cause;
}
