import { COMMANDS, type Command } from '@sluice/core';
import type { AdmissionClass, Engine, Term } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';

type Admittable = {
  [T in Command['type']]: (typeof COMMANDS)[T]['admission'] extends 'internal' ? never : T;
}[Command['type']];

/** Decides whether a request is accepted, before it has any effect. */
export class Admission {
  private readonly engine: Engine;
  private readonly log: { readonly isFull: boolean };
  private readonly memory: { readonly isOver: boolean };
  private readonly term: Pick<Term, 'isOver'> | undefined;

  /** `term` is that of a server in a cluster. */
  constructor(
    engine: Engine,
    log: { readonly isFull: boolean },
    memory: { readonly isOver: boolean },
    term?: Pick<Term, 'isOver'>,
  ) {
    this.engine = engine;
    this.log = log;
    this.memory = memory;
    this.term = term;
  }

  command(type: Admittable): void {
    this.admit(COMMANDS[type].admission);
  }

  read(): void {
    this.admit('read');
  }

  /** For a payload that goes to the disk outside the log, and through memory in chunks. */
  upload(): void {
    if (this.log.isFull) throw diskFull();
  }

  private admit(admissionClass: AdmissionClass): void {
    // The reserve of a full disk is for work that finishes tasks, not for new tasks.
    if (admissionClass === 'submit' && this.log.isFull) throw diskFull();
    // The database has not answered for seconds. Reports wait for it: a worker has nothing better.
    if (admissionClass === 'submit' && this.term?.isOver() === true) throw noDatabase();
    // Requests that finish tasks free memory, so they are always accepted.
    if (admissionClass === 'submit' && this.memory.isOver) {
      throw overloaded('the server uses the maximum amount of memory');
    }
    if (!this.engine.admits(admissionClass))
      throw overloaded('the disk is too slow for the current load');
  }
}

function diskFull(): SluiceError {
  return new SluiceError('disk_full', 'the disk is full; free some space', { retryAfterMs: 5000 });
}

function noDatabase(): SluiceError {
  const message = 'the database does not answer; nothing was submitted';
  return new SluiceError('unavailable', message, { retryAfterMs: 1000 });
}

export function overloaded(why: string): SluiceError {
  return new SluiceError('overloaded', `${why}; try again later`, { retryAfterMs: 1000 });
}
