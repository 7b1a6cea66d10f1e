import type { Event } from '@sluice/core';
import { outlineOf } from '../base/step-outline.ts';
import type { ProjectedProgram } from './runs/run-record.ts';

type Registered = Extract<Event, { type: 'workflow_registered' }>;

/** A definition with its text. */
export interface KnownProgram extends Omit<ProjectedProgram, 'steps' | 'sizes'> {
  readonly text: string;
}

/**
 * The definitions that runs name by place. A place is used again once nothing names it, so what is
 * saved must fit to the saved mark: later definitions come with the log again.
 */
export class ProjectedPrograms {
  private readonly byPlace: Map<number, ProjectedProgram>;
  /** Not saved yet, with the start of the batch that they came in; oldest first. */
  private fresh: { readonly since: number; readonly program: ProjectedProgram }[] = [];

  constructor(saved: readonly ProjectedProgram[]) {
    this.byPlace = new Map(saved.map((program) => [program.place, program]));
  }

  register(event: Registered, since: number): void {
    const { program: place, namespace, name, workflowVersion: version, text } = event;
    const program = { place, namespace, name, version, ...outlineOf(text) };
    this.byPlace.set(place, program);
    this.fresh.push({ since, program });
  }

  /** Places whose definition is known. */
  get places(): number[] {
    return [...this.byPlace.keys()];
  }

  /**
   * Takes definitions of the server whose events are neither saved nor in the log any more, after a
   * loss of files. Definitions in the log replace them.
   */
  fill(programs: readonly KnownProgram[]): void {
    for (const { text, ...known } of programs) {
      if (this.byPlace.has(known.place)) continue;
      const program = { ...known, ...outlineOf(text) };
      this.byPlace.set(known.place, program);
      this.fresh.push({ since: -1, program });
    }
  }

  at(place: number): ProjectedProgram {
    const program = this.byPlace.get(place);
    if (program === undefined) throw new Error(`the log does not contain definition ${place}`);
    return program;
  }

  /** Those that a mark at this position must save. */
  unsavedBefore(position: number): ProjectedProgram[] {
    return this.fresh.flatMap(({ since, program }) => (since < position ? [program] : []));
  }

  saved(position: number): void {
    this.fresh = this.fresh.filter(({ since }) => since >= position);
  }
}
