/** The projection's thread: takes committed batches, writes rows, and answers queries. */
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { namespaceOf, parseRunId, parseTaskId } from '@sluice/core';
import { AnswerRoom } from '../answers/answer-room.ts';
import { type RunSource, runJson, runSummaryJson, stepsFrom } from '../answers/shown-run.ts';
import { MemoryReturn } from '../base/memory-return.ts';
import type {
  FindQuestion,
  FindRunsQuestion,
  Found,
  Question,
  ReadQuestion,
  Say,
  TaskEnd,
  Tell,
  ThreadData,
} from './projection-messages.ts';
import { Projector } from './projector.ts';
import type { ProjectorNotice } from './projector-parts.ts';
import { callbacksJson } from './records/delivery-record.ts';
import type { TaskRecord } from './records/task-record.ts';
import { DeadLetterCount } from './rows/dead-letter-count.ts';
import { readmissionOf } from './rows/readmission.ts';
import { historyJson, recordJson } from './rows/record-view.ts';
import type { RowQuery } from './rows/row-query.ts';
import type { AnyRecord } from './rows/stored-row.ts';
import { runHistoryJson } from './run-history.ts';
import { runRecordSource } from './run-record-view.ts';
import { runReadmissionOf } from './runs/run-readmission.ts';
import { isRun, namespaceOfRun, type RunRecord, runKey, runNamespace } from './runs/run-record.ts';

/** How often changes are saved while there are any. */
const SAVE_EVERY_MS = 500;

/** How often retention runs. */
const RETAIN_EVERY_MS = 10_000;

const RETRY_MS = 1000;

/** Saves early at this many ended tasks, before the garbage collector copies them. */
const ENDED_MAX = 4000;

/** A search that takes longer returns what it has so far, because other queries wait. */
const FIND_MS_MAX = 500;

/** When the CPU is short, dispatch goes first, and the projection catches up later. */
const NICENESS = 10;

const data = workerData as ThreadData;
const say = (said: Say): void => parentPort?.postMessage(said);
const projector = await openProjector();

const deadLetters = new DeadLetterCount({
  deadLetters: (scope) => projector.deadLetters(scope),
  clock: () => performance.now(),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
});

let savedAt = 0;
let retainedAt = 0;
let isFailing = false;
let isClosed = false;
/** Batches were taken and not acknowledged yet. */
let isUnsaid = false;

parentPort?.on('message', (told: Tell) => {
  // Batches that were under way stay in the log, and the next projection takes them.
  if (isClosed) return;
  if (told.type === 'batches') {
    for (const batch of told.batches) {
      projector.take(batch);
      if (projector.endedCount >= ENDED_MAX && !isFailing) attempt(() => projector.saveEnded());
    }
    isUnsaid = true;
    work();
  } else if (told.type === 'skip') {
    projector.skipTo(told.position);
  } else if (told.type === 'begin') {
    projector.begin(told.position, told.programs);
  } else if (told.type === 'question') {
    answer(told.id, told.question);
  } else if (told.type === 'close') {
    attempt(() => projector.saveAll());
    isClosed = true;
    projector.close();
    parentPort?.close();
    clearInterval(timer);
    memory.end();
  }
});

/** The database's code is loaded only where it is needed. */
async function openProjector(): Promise<Projector> {
  const notify = (notice: ProjectorNotice): void => say({ type: 'notice', notice });
  const { store, isParked = false, ...options } = data;
  if (store === undefined) return Projector.open({ ...options, notify });
  const { openSession, openTables } = await import('./postgres/open-tables.ts');
  const session = openSession(store);
  if (isParked && parentPort !== null) await once(parentPort, 'message');
  return new Projector({ ...options, ...openTables(session, store.schema, notify), notify });
}

// On Linux this sets the priority of the calling thread, not of the process.
if (process.platform === 'linux') setPriority(0, NICENESS);

const timer = setInterval(work, SAVE_EVERY_MS);
const memory = new MemoryReturn().begin();
say({
  type: 'ready',
  saved: projector.saved,
  bytes: projector.bytes,
  programs: projector.knownPrograms,
});
// A server that is killed would otherwise leave no compile cache for the next one.
setImmediate(flushCompileCache);

function work(): void {
  const now = Date.now();
  if (isFailing && now - savedAt < RETRY_MS) return;
  if (projector.isBehind && now - savedAt >= SAVE_EVERY_MS) save();
  if (now - retainedAt >= RETAIN_EVERY_MS) {
    retainedAt = now;
    retain();
  }
  // While nothing can be written no more batches are requested, so memory stays bounded.
  if (isUnsaid && !isFailing) {
    say({ type: 'taken', saved: projector.saved, seen: projector.seen });
    isUnsaid = false;
  }
}

/** Runs in steps, so that queries and batches are handled in between. */
function retain(): void {
  let isMore = false;
  const isDone = attempt(() => {
    isMore = projector.retain(Date.now());
  });
  if (isDone && isMore && !isClosed) setImmediate(retain);
}

function save(): void {
  savedAt = Date.now();
  const isDone = attempt(() => projector.save(savedAt));
  if (isDone) say({ type: 'saved', saved: projector.saved, bytes: projector.bytes });
}

/** A write that fails now may succeed later, when the disk has room again. */
function attempt(work: () => void): boolean {
  try {
    work();
    if (isFailing) say({ type: 'recovered' });
    isFailing = false;
    return true;
  } catch (cause) {
    if (!isFailing) say({ type: 'failing', why: (cause as Error).message });
    isFailing = true;
    return false;
  }
}

function answer(id: number, question: Question): void {
  const tell = (value: unknown): void => say({ type: 'answer', id, value });
  const refuse = (cause: Error): void => say({ type: 'answer', id, why: cause.message });
  try {
    const value = valueFor(question);
    if (value instanceof Promise) value.then(tell, refuse);
    else tell(value);
  } catch (cause) {
    refuse(cause as Error);
  }
}

const FORMS = {
  task: recordJson,
  history: historyJson,
  callbacks: callbacksJson,
  attempts: ({ attempts }: TaskRecord) => JSON.stringify(attempts),
  end: ({ state, endedAt }: TaskRecord) => JSON.stringify({ state, endedAt } satisfies TaskEnd),
  readmission: (record: TaskRecord) => JSON.stringify(readmissionOf(record)),
};

function valueFor(question: Question): unknown {
  switch (question.type) {
    case 'read':
      return read(question);
    case 'find':
      return find(question);
    case 'find_runs':
      return findRuns(question);
    case 'run': {
      const run = runOf(question);
      return run === undefined ? null : rendered(run, () => runJson(sourceOf(run)));
    }
    case 'runHistory': {
      const run = runOf(question);
      return run === undefined ? null : runHistoryJson(run);
    }
    case 'runReadmission': {
      const run = runOf(question);
      return run === undefined ? null : JSON.stringify(runReadmissionOf(run));
    }
    case 'steps': {
      const run = runOf(question);
      return run === undefined ? null : stepsFrom(sourceOf(run), question.from, question.limit);
    }
    case 'groups':
      return deadLetters.groups(question);
    case 'changes':
      return projector.changes.read(question.query);
    case 'blobs':
      return projector.named(question.blobs);
  }
}

function read({ ids, namespace, form, charactersMax }: ReadQuestion): (string | null)[] {
  const room = AnswerRoom.of(charactersMax);
  const answers: (string | null)[] = [];
  for (const id of ids) {
    if (room.isFull && answers.length > 0) break;
    const record = recordOf(id, namespace);
    const text = record === undefined ? undefined : rendered(record, FORMS[form]);
    answers.push(text === undefined ? null : room.take(text));
  }
  return answers;
}

function findRuns({ query, times, charactersMax }: FindRunsQuestion): Found {
  const { namespace, before, limit, workflow, status, correlation, tags } = query;
  const rows: RowQuery = {
    namespace: runNamespace(namespace),
    before,
    from: 0,
    limit,
    ...(workflow === undefined ? {} : { queue: runKey(namespace, workflow) }),
    ...(status === undefined ? {} : { state: status }),
    ...(correlation === undefined ? {} : { parent: correlation }),
    ...(tags === undefined ? {} : { tags }),
  };
  return find({ type: 'find', query: rows, times, charactersMax });
}

function sourceOf(record: RunRecord): RunSource {
  return runRecordSource(record, (number) => projector.read(number));
}

/** A run of another namespace is not found. */
function runOf({ id, namespace }: { id: string; namespace: string }): RunRecord | undefined {
  const key = parseRunId(id);
  const record = key?.partition === 0 ? projector.readRun(key.number) : undefined;
  const isMeant =
    record !== undefined &&
    record.submittedAt === key?.submittedAt &&
    namespaceOfRun(record) === namespace;
  return isMeant ? record : undefined;
}

function find({ query, times, charactersMax }: FindQuestion): Found {
  const room = AnswerRoom.of(charactersMax);
  const items: string[] = [];
  let last = 0;
  let isMore = false;
  const isLateAt = performance.now() + FIND_MS_MAX;
  for (const found of projector.find(query, times)) {
    if ('passed' in found) {
      last = found.passed;
      isMore = performance.now() > isLateAt;
    } else {
      const text = rendered(found, summaryJson);
      if (text !== undefined) items.push(room.take(text));
      last = found.number;
      isMore = items.length === query.limit || room.isFull;
    }
    if (isMore) break;
  }
  return { items, last, isMore };
}

function summaryJson(record: AnyRecord): string {
  return isRun(record) ? runSummaryJson(sourceOf(record)) : recordJson(record);
}

/** A record that cannot be rendered is left out, and the rest of the answer is kept. */
function rendered<T extends AnyRecord>(
  record: T,
  render: (record: T) => string,
): string | undefined {
  try {
    return render(record);
  } catch (cause) {
    const { number: task } = record;
    const why = (cause as Error).message;
    say({ type: 'notice', notice: { type: 'record_not_shown', task, why } });
    return undefined;
  }
}

/**
 * A task of another namespace is not found. Nor is one whose id has the right number but another
 * time.
 */
function recordOf(id: string, namespace: string): TaskRecord | undefined {
  const key = parseTaskId(id);
  const record = key === undefined ? undefined : projector.read(key.number);
  const isMeant =
    record?.submittedAt === key?.submittedAt &&
    key?.partition === 0 &&
    record !== undefined &&
    namespaceOf(record.queue) === namespace;
  return isMeant ? record : undefined;
}
