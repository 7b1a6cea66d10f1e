import { findRun, NO_SLOT, parseRunId, type ReadonlyState, type Slot } from '@sluice/core';
import type { Engine, Shows } from '@sluice/engine';
import { LIMITS, type RunListQuery, SluiceError } from '@sluice/protocol';
import { AnswerRoom } from '../answers/answer-room.ts';
import { badCursor, cursorText, type PageRequest, pageJson } from '../answers/pages.ts';
import { runJson, runSummaryJson, stepsFrom } from '../answers/shown-run.ts';
import type { Admission } from '../limits/admission.ts';
import { type Projection, ProjectionError } from '../projection/projection.ts';
import type { StoredSteps } from '../projection/projection-messages.ts';
import type { RunReadmission } from '../projection/runs/run-readmission.ts';
import { timeOf } from '../tasks/task-filter.ts';
import { definitionOfRun, workflowNotFound } from '../workflows/workflow-views.ts';
import { ended, explainRun, type RunExplanation } from './run-explain.ts';
import { runSource } from './run-view.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly projection: Projection;
  readonly clock: () => number;
}

export interface RunFilter extends Omit<RunListQuery, 'limit' | 'cursor'> {
  readonly tags?: Readonly<Record<string, string>>;
}

/** Runs from memory and, once they have left it, from the projection. */
export class RunArchive {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** One run as JSON text, with its steps. */
  async one(namespace: string, id: string): Promise<string> {
    const json = await this.inMemory(namespace, id, (state, slot, shows) => {
      return runJson(runSource(state, slot, shows));
    });
    if (json !== undefined) return json;
    const stored = await this.ask(id, (projection) => projection.run({ namespace, id }));
    if (stored === null) return this.missing(id);
    return stored;
  }

  /** What is needed to restart a run that left memory. */
  async readmission(namespace: string, id: string): Promise<RunReadmission> {
    this.parts.admission.read();
    const known = await this.ask(id, (projection) => projection.runReadmission({ namespace, id }));
    return known ?? notFound(id);
  }

  /** One run as JSON text, without its steps. */
  async summary(namespace: string, id: string): Promise<string> {
    const json = await this.inMemory(namespace, id, (state, slot, shows) => {
      return runSummaryJson(runSource(state, slot, shows));
    });
    if (json !== undefined) return json;
    const whole = JSON.parse(await this.one(namespace, id)) as Record<string, unknown>;
    const { steps: _, stepsCursor: __, ...rest } = whole;
    return JSON.stringify(rest);
  }

  /** The definition that a run follows, as JSON text. */
  async definition(namespace: string, id: string): Promise<string> {
    const json = await this.inMemory(namespace, id, (state, slot, shows) => {
      shows.run(slot);
      return definitionOfRun(state.programs.at(state.runs.table.program[slot]));
    });
    if (json !== undefined) return json;
    const { workflow, version } = JSON.parse(await this.summary(namespace, id)) as {
      readonly workflow: string;
      readonly version: number | null;
    };
    return this.parts.engine.read(({ programs }) => {
      const program = version === null ? undefined : programs.version(namespace, workflow, version);
      if (program === undefined) throw workflowNotFound(workflow, version ?? undefined);
      return definitionOfRun(program);
    });
  }

  /** A page of the steps of a run, as JSON text. */
  async steps(
    namespace: string,
    id: string,
    { limit = LIMITS.pageDefault, cursor }: PageRequest,
  ): Promise<string> {
    const from = cursor === undefined ? 0 : parsePlace(cursor);
    const inMemory = await this.inMemory(namespace, id, (state, slot, shows): StoredSteps => {
      return stepsFrom(runSource(state, slot, shows), from, limit);
    });
    const { items, next } =
      inMemory ??
      (await this.ask(id, (projection) => projection.steps({ namespace, id, from, limit }))) ??
      (await this.missing(id));
    const after = next === undefined ? undefined : String(next);
    return pageJson(items, after, { asOf: this.parts.clock(), lagMs: 0 });
  }

  /** What a run waits for. */
  async explain(namespace: string, id: string): Promise<RunExplanation> {
    const { engine, admission } = this.parts;
    admission.read();
    const inMemory = await engine.read((state, partition) => {
      const slot = findRun(state, namespace, id);
      return slot === NO_SLOT ? undefined : explainRun(state, partition, slot);
    });
    if (inMemory !== undefined) return inMemory;
    const { status, endedAt } = JSON.parse(await this.one(namespace, id)) as {
      readonly status: string;
      readonly endedAt: string | null;
    };
    return ended(status, endedAt === null ? 0 : Date.parse(endedAt));
  }

  /** Every change of a run and of its steps, as JSON text. */
  async history(namespace: string, id: string): Promise<string> {
    const { engine, admission } = this.parts;
    admission.read();
    const asked = engine.position;
    const json = await this.ask(id, (projection) =>
      projection.runHistory({ namespace, id }, asked),
    );
    if (json === null) throw runNotFound(id);
    return json;
  }

  /** A page of matching runs, newest first, as JSON text. */
  async list(
    namespace: string,
    { workflow, status, correlationId, tags, ...filter }: RunFilter,
    { limit = LIMITS.pageDefault, cursor }: PageRequest,
  ): Promise<string> {
    const { engine, admission, projection, clock } = this.parts;
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : parsePlace(cursor);
    admission.read();
    const query = {
      namespace,
      before,
      limit,
      ...(workflow === undefined ? {} : { workflow }),
      ...(status === undefined ? {} : { status: status as string }),
      ...(correlationId === undefined ? {} : { correlation: correlationId }),
      ...(tags === undefined ? {} : { tags }),
    };
    const times = {
      since: timeOf(filter.since) ?? 0,
      until: timeOf(filter.until) ?? Number.POSITIVE_INFINITY,
    };
    const asked = engine.position;
    const charactersMax = new AnswerRoom().characters;
    const found = await this.answered(projection.findRuns({ query, times, charactersMax }, asked));
    const now = clock();
    const { lagMs } = projection.status(asked, now);
    const next = found.isMore ? String(found.last) : undefined;
    return pageJson(found.items, next, { asOf: now - lagMs, lagMs });
  }

  private inMemory<T>(
    namespace: string,
    id: string,
    show: (state: ReadonlyState, slot: Slot, shows: Shows) => T,
  ): Promise<T | undefined> {
    const { engine, admission } = this.parts;
    admission.read();
    return engine.readShown((state, _partition, shows) => {
      const slot = findRun(state, namespace, id);
      return slot === NO_SLOT ? undefined : show(state, slot, shows);
    });
  }

  /** That a run is nowhere is known when everything is durable that memory has seen (L2). */
  private async missing(id: string): Promise<never> {
    await this.parts.engine.read(() => undefined);
    throw runNotFound(id);
  }

  private ask<T>(id: string, question: (projection: Projection) => Promise<T>): Promise<T> {
    if (parseRunId(id) === undefined) throw runNotFound(id);
    return this.answered(question(this.parts.projection));
  }

  /** A projection that does not answer must not stop the server; the caller gets an error. */
  private async answered<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      if (!(cause instanceof ProjectionError)) throw cause;
      const message = 'stored runs cannot be read at the moment; try again';
      throw new SluiceError('unavailable', message, { cause, retryAfterMs: 1000 });
    }
  }
}

export function runNotFound(id: string): SluiceError {
  return new SluiceError('run_not_found', `no run '${id}'`);
}

function notFound(id: string): never {
  throw runNotFound(id);
}

function parsePlace(cursor: string): number {
  const [number] = /^\d{1,15}$/.exec(cursorText(cursor)) ?? [];
  if (number === undefined) throw badCursor();
  return Number(number);
}
