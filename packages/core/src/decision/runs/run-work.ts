import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { Utf8 } from '../../base/utf8.ts';
import { JsonWriter, LIST_BYTES_MAX } from '../../expressions/json-writer.ts';
import { TemplateFiller } from '../../expressions/template.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { Branches } from './branches.ts';
import { ProgramCache } from './program-cache.ts';
import { RunValues } from './run-values.ts';

/** The first commands of a process take several times as long for the same work. */
const COLD_UNITS = 125;

/** Caches and working memory for decisions about runs. Volatile: nothing durable depends on it. */
export class RunWork {
  readonly utf8: Utf8;
  /** Bound on the work for runs that one command does. It grows while the code is cold. */
  units: number;
  private readonly unitsMax: number;
  readonly programs: ProgramCache;
  readonly branches: Branches;
  readonly values: RunValues;
  readonly filler: TemplateFiller;
  /** Takes the value that is being built. */
  readonly value = new JsonWriter();
  /** Takes the list of a dynamic fork. */
  readonly list = new JsonWriter(LIST_BYTES_MAX);
  /** The run that has the next turn; the first one of the line if this one is no longer in it. */
  next: Slot = NO_SLOT;
  /** Events of the current command so far. */
  events = 0;
  /** Number of runs in a row that could not go on because memory is full. */
  fullInRow = 0;
  /** Since when runs wait for room for a child, by slot, with their numbers. */
  readonly blockedSince = new Map<number, { readonly number: number; readonly at: number }>();
  /** While memory is full, no step enters before this time. */
  restsUntil = 0;

  constructor(state: ReadonlyState, utf8: Utf8, unitsMax: number) {
    this.unitsMax = unitsMax;
    this.units = Math.min(unitsMax, COLD_UNITS);
    this.utf8 = utf8;
    this.programs = new ProgramCache(utf8);
    this.branches = new Branches(state, utf8);
    this.values = new RunValues(state, utf8, this.branches);
    this.filler = new TemplateFiller(utf8);
  }

  /** A command has used all units: the code is warmer, and the next command may do more. */
  warmUp(): void {
    this.units = Math.min(this.unitsMax, 2 * this.units);
  }
}
