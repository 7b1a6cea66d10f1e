/** What a disk refuses, with a code as Node's errors have. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: simulated, '${path}'`);
    this.code = code;
  }
}

/** Thrown where a dead process cannot simply wait for ever: in the middle of what it does. */
export class ProcessKilledError extends Error {
  override readonly name = 'ProcessKilledError';

  constructor() {
    super('the process is dead');
  }
}
