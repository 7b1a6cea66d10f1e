import { COMMANDS, type Command } from '@sluice/core';
import type { AdmissionClass, Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';

type Admittable = {
  [T in Command['type']]: (typeof COMMANDS)[T]['admission'] extends 'internal' ? never : T;
}[Command['type']];

/** Decides whether a request is taken on at all, before it has any effect. */
export class Admission {
  private readonly engine: Engine;
  private readonly log: { readonly isFull: boolean };
  private readonly memory: { readonly isOver: boolean };

  constructor(
    engine: Engine,
    log: { readonly isFull: boolean },
    memory: { readonly isOver: boolean },
  ) {
    this.engine = engine;
    this.log = log;
    this.memory = memory;
  }

  command(type: Admittable): void {
    this.admit(COMMANDS[type].admission);
  }

  read(): void {
    this.admit('read');
  }

  /** Of a payload that goes to the disk beside the log, and through memory bit by bit. */
  upload(): void {
    if (this.log.isFull) throw diskFull();
  }

  private admit(admissionClass: AdmissionClass): void {
    // The reserve of a full disk is for work that ends, not for more of it.
    if (admissionClass === 'submit' && this.log.isFull) throw diskFull();
    // What ends makes room, and is heard to the last.
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

export function overloaded(why: string): SluiceError {
  return new SluiceError('overloaded', `${why}; try again later`, { retryAfterMs: 1000 });
}
