import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { Utf8 } from '../../base/utf8.ts';
import { JsonWriter, LIST_BYTES_MAX } from '../../expressions/json-writer.ts';
import { TemplateFiller } from '../../expressions/template.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { Branches } from './branches.ts';
import { OpenLists } from './open-lists.ts';
import { ProgramCache } from './program-cache.ts';
import { RunValues } from './run-values.ts';

const GROWTH = 1.5;
/** After a command that did little with its units. */
const LITTLE_GROWTH = 1.1;

const BYTES_PER_UNIT = 2048;

export interface UnitBounds {
  readonly units: number;
  /** For the first commands of a process, which take many times as long for the same work. */
  readonly coldUnits: number;
}

/** Caches and working memory for decisions about runs. Volatile: nothing durable depends on it. */
export class RunWork {
  readonly utf8: Utf8;
  /** Units that the current command took beside its events, and that are not accounted for yet. */
  private owed = 0;
  /** Bound on the work for runs that one command does. It grows while the code is cold. */
  units: number;
  private readonly unitsMax: number;
  readonly programs: ProgramCache;
  readonly branches: Branches;
  readonly openLists: OpenLists;
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

  constructor(state: ReadonlyState, utf8: Utf8, { units, coldUnits }: UnitBounds) {
    this.unitsMax = units;
    this.units = Math.min(units, coldUnits);
    this.utf8 = utf8;
    const spend = (bytes: number): void => this.spendBytes(bytes);
    this.programs = new ProgramCache(utf8, spend);
    this.openLists = new OpenLists(state);
    this.branches = new Branches(state, utf8, spend);
    this.values = new RunValues(state, utf8, this.branches);
    this.filler = new TemplateFiller(utf8);
  }

  /** While the code is cold, what a command did before it comes to its runs counts, too. */
  get isCold(): boolean {
    return this.units < this.unitsMax;
  }

  /** A command begins. */
  begin(): void {
    this.events = 0;
    this.owed = 0;
  }

  /** For work that is no event. */
  spend(units: number): void {
    this.owed += units;
  }

  /** For bytes that are looked at or copied. */
  spendBytes(bytes: number): void {
    this.owed += Math.floor(bytes / BYTES_PER_UNIT);
  }

  /** Units that were spent since the last call. */
  takeOwed(): number {
    const { owed } = this;
    this.owed = 0;
    return owed;
  }

  /**
   * A command has used all units: the code is warmer, and the next command may do more. Few steps
   * that took many units each have warmed only a part of it.
   */
  warmUp(steps: number): void {
    const growth = steps * 2 >= this.units ? GROWTH : LITTLE_GROWTH;
    this.units = Math.min(this.unitsMax, Math.ceil(growth * this.units));
  }
}
