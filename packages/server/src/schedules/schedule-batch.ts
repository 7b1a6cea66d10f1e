import {
  type Author,
  NO_SLOT,
  type ReadonlyState,
  type ScheduleChange,
  type Slot,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { type ErrorDetail, mergePatch, ScheduleBatch, SluiceError } from '@sluice/protocol';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { Checker, invalid } from '../base/validation.ts';
import { findSchedule, scheduleNotFound } from './find-schedule.ts';
import { writtenSchedule } from './schedule-exec.ts';
import type { ScheduleOperations } from './schedule-operations.ts';
import { changeRefusal } from './schedule-refusals.ts';
import { parseSchedule } from './schedule-request.ts';

/** Changes that one command makes: a turn stays short, also when each computes a cron time. */
const CHANGES_PER_COMMAND = 200;

type Item = { readonly op: 'put' | 'patch' | 'delete'; readonly id: string };

interface Result {
  readonly id: string;
  readonly ok?: true;
  readonly change?: string;
  readonly error?: object;
}

const batch = new Checker(ScheduleBatch);

interface Parts {
  readonly engine: Engine;
  readonly operations: ScheduleOperations;
}

/** Applies changes in order, each wholly or not at all. */
export async function changeSchedules(
  { engine, operations }: Parts,
  {
    namespace,
    body,
    by,
  }: { readonly namespace: string; readonly body: unknown; readonly by: Author },
): Promise<Result[]> {
  const items = batch.parse(body, 'the batch is not valid') as Item[];
  const results: Result[] = [];
  while (results.length < items.length) {
    const part = nextPart(items, results.length);
    const first = results.length;
    const ready = await engine.read((state) => prepareSome(state, namespace, { part, first }));
    const changes = ready.flatMap((each) => ('made' in each ? [each] : []));
    const outcomes =
      changes.length === 0
        ? []
        : await operations.change(
            namespace,
            {
              changes: changes.map(({ made }) => made),
              inputs: changes.map(({ input }) => input),
              by: { ...by, detail: namesOf(changes) },
            },
            (all, state) =>
              all.map(({ rejection, change }, index): Result => {
                const { name: id } = changes[index].made;
                if (rejection === undefined) return { id, ok: true, change: change ?? 'replaced' };
                return { id, error: errorOf(changeRefusal(rejection, id, state)) };
              }),
          );
    let taken = 0;
    for (const each of ready) results.push('made' in each ? outcomes[taken++] : each);
  }
  return results;
}

/** Texts of audit records are bounded; the events of the same log record have all names. */
const NAMES_CHARACTERS_MAX = 200;

/** The names of the schedules, for the audit record: as many as there is room for. */
function namesOf(changes: readonly Ready[]): string {
  const names: string[] = [];
  let length = 0;
  for (const { made } of changes) {
    length += made.name.length + 2;
    if (length > NAMES_CHARACTERS_MAX) break;
    names.push(made.name);
  }
  const more = changes.length - names.length;
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
}

/** Items up to the bound, and none after a change of the same schedule: a patch builds on it. */
function nextPart(items: readonly Item[], from: number): Item[] {
  const part: Item[] = [];
  const ids = new Set<string>();
  for (const item of items.slice(from, from + CHANGES_PER_COMMAND)) {
    if (ids.has(item.id)) break;
    ids.add(item.id);
    part.push(item);
  }
  return part;
}

interface Ready {
  readonly made: ScheduleChange;
  readonly input: unknown;
}

type Prepared = Result | Ready;

/** Bytes of schedules that one turn reads. */
const BYTES_PER_TURN = 2 ** 20;

/** To stop a replica takes as long as to read this many bytes. */
const BYTES_PER_REPLICA = 8192;

function costOf({ schedules }: ReadonlyState, slot: Slot): number {
  const { definitionLength, replicas } = schedules.table;
  return definitionLength[slot] + replicas[slot] * BYTES_PER_REPLICA;
}

/** Prepares items until they are too large for one turn. */
function prepareSome(
  state: ReadonlyState,
  namespace: string,
  { part, first }: { readonly part: readonly Item[]; readonly first: number },
): Prepared[] {
  const prepared: Prepared[] = [];
  let bytes = 0;
  for (const item of part) {
    if (bytes > BYTES_PER_TURN) break;
    const slot = findSchedule(state, namespace, item.id);
    if (slot !== NO_SLOT) bytes += costOf(state, slot);
    prepared.push(prepare(state, namespace, item, first + prepared.length));
  }
  return prepared;
}

function prepare(state: ReadonlyState, namespace: string, item: Item, place: number): Prepared {
  const { op, id, ...fields } = item;
  if (op === 'delete') return { made: { name: id }, input: null };
  const slot = findSchedule(state, namespace, id);
  if (op === 'patch' && slot === NO_SLOT) return { id, error: errorOf(scheduleNotFound(id)) };
  const request = op === 'put' ? fields : mergePatch(writtenSchedule(state, slot), fields);
  const problems: ErrorDetail[] = [];
  const schedule = parseSchedule(request, `/${place}`, problems);
  if (schedule === undefined) {
    return { id, error: errorOf(invalid('the schedule is not valid', problems)) };
  }
  const { settings, paused, input } = schedule;
  const problem = inputProblem(input, `/${place}/${settings.run ? 'run' : 'task'}/input`);
  if (problem !== undefined) return { id, error: errorOf(problem) };
  const ifRevision = op === 'patch' ? { ifRevision: state.schedules.table.revision[slot] } : {};
  return { made: { name: id, settings, paused, ...ifRevision }, input };
}

const scratch = new PayloadScratch();

/** Why an input cannot be stored. */
function inputProblem(input: unknown, path: string): SluiceError | undefined {
  try {
    scratch.begin(() => path, false);
    scratch.add(input);
    return undefined;
  } catch (cause) {
    if (cause instanceof SluiceError) return cause;
    throw cause;
  }
}

function errorOf({ code, message, details }: SluiceError): object {
  return { code, message, ...(details === undefined || details.length === 0 ? {} : { details }) };
}
