/** An error of the disk, with a code as in Node's errors. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: simulated, '${path}'`);
    this.code = code;
  }
}

/** Thrown in a synchronous operation: a dead process cannot wait there forever. */
export class ProcessKilledError extends Error {
  override readonly name = 'ProcessKilledError';

  constructor() {
    super('the process is dead');
  }
}
