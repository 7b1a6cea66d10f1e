import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isHeld,
  NO_SLOT,
  namespaceOf,
  readEvents,
  TASK_STATES,
  type TaskNumber,
} from '@sluice/core';
import { World } from '@sluice/core/testing/world/world';
import { actions, passedMs } from '@sluice/core/testing/world/world-actions';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { UTF8 } from '../base/utf8.ts';
import { shownTask } from '../tasks/task-view.ts';
import { Projector } from './projector.ts';
import type { ProjectedBatch, ProjectorNotice } from './projector-parts.ts';
import type { ChangeRecord } from './records/change-record.ts';
import { DayFolder } from './rows/day-file.ts';
import { DayFiles, type Passed } from './rows/day-files.ts';
import { DAYS_FOLDER } from './rows/day-names.ts';
import { MarkFile } from './rows/mark-file.ts';
import { shownRecord } from './rows/record-view.ts';
import type { AnyRecord } from './rows/stored-row.ts';

const RETENTION = { ageMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-projector-'));
  folders.push(folder);
  return folder;
}

function open(folder: string): Projector {
  return Projector.open({ folder, retention: RETENTION, notify: () => undefined });
}

const sequences = fc.array(fc.tuple(actions, passedMs), {
  minLength: 10,
  maxLength: 60,
  size: 'max',
});

const CRASHES_MAX = 10;

/** Steps between two batches. */
const steps = fc.constantFrom('take', 'save', 'save ended', 'save old', 'save all', 'crash');

/** Longer than open tasks are kept in memory. */
const LONG_MS = 20_000;

test('rows become what memory has, whenever they are written and wherever it crashes', () => {
  fc.assert(
    fc.property(sequences, fc.infiniteStream(steps), (sequence, between) => {
      const world = new World();
      for (const [action, passed] of sequence) {
        world.partition.now += passed;
        world.act(action);
      }
      const folder = newFolder();
      let projector = open(folder);
      const batches = batchesOf(world.partition.log());
      const tail = batches.reduce((sum, { recordCount }) => sum + recordCount, 0);
      for (let crashes = 0; projector.seen.position < tail; ) {
        const next = projector.seen.position;
        const batch = batches.find(({ firstRecord }) => firstRecord === next);
        projector.take(batch as ProjectedBatch);
        const step = between.next().value;
        if (step === 'save') projector.save(projector.seen.at);
        if (step === 'save ended') projector.saveEnded();
        if (step === 'save old') projector.save(projector.seen.at + LONG_MS);
        if (step === 'save all') projector.saveAll();
        if (step !== 'crash' || crashes === CRASHES_MAX) continue;
        crashes += 1;
        projector.close();
        projector = open(folder);
      }

      expectSame(projector, world);
      expectFound(projector, world);
      projector.saveAll();
      expect(projector.saved.position).toBe(tail);
      projector.close();
    }),
    { numRuns: 25, endOnFailure: true },
  );
}, 60_000);

test('a rebuild makes of the log what it tells, whatever rows say', () => {
  const world = new World();
  fc.sample(sequences, { numRuns: 3, seed: 7 })
    .flat()
    .forEach(([action, passed]) => {
      world.partition.now += passed;
      world.act(action);
    });
  const batches = batchesOf(world.partition.log());
  const tail = batches.reduce((sum, { recordCount }) => sum + recordCount, 0);
  const folder = newFolder();
  const before = open(folder);
  for (const batch of batches) before.take(batch);
  before.saveAll();
  before.close();
  // These rows claim to have seen the whole log, and are wrong.
  const files = new DayFiles(new DayFolder(join(folder, DAYS_FOLDER)), () => undefined);
  const rows = [...files.readAhead(1, 1_000_000).values()];
  files.write(rows.map((row) => ({ ...row, record: { ...row.record, priority: 77 } })));
  files.close();
  const mark = new MarkFile(folder);
  mark.write({ position: 0, at: 0, rebuildTo: Number.MAX_SAFE_INTEGER });
  mark.close();

  const after = open(folder);
  after.begin(tail);
  for (const batch of batches) after.take(batch);

  expect(rows.length).toBeGreaterThan(5);
  expectSame(after, world);
  after.saveAll();
  expectSame(after, world);
  after.close();
});

test('an event that cannot be applied is left out and named, and all others are taken', () => {
  const world = new World();
  fc.sample(sequences, { numRuns: 3, seed: 7 })
    .flat()
    .forEach(([action, passed]) => {
      world.partition.now += passed;
      world.act(action);
    });
  const notices: ProjectorNotice[] = [];
  const folder = newFolder();
  const first = Projector.open({ folder, retention: RETENTION, notify: () => undefined });
  const [submits, ...others] = batchesOf(world.partition.log());
  first.take(submits);
  first.saveAll();
  first.close();
  const markFile = new MarkFile(folder);
  const files = new DayFiles(new DayFolder(join(folder, DAYS_FOLDER)), () => undefined);
  files.readAhead = () => {
    throw new Error('the disk is tired');
  };
  const notify = (notice: ProjectorNotice): void => void notices.push(notice);
  const second = new Projector({ files, markFile, retention: RETENTION, notify });

  for (const batch of others) second.take(batch);

  const why = 'the disk is tired';
  expect(notices.length).toBeGreaterThan(0);
  for (const notice of notices) expect(notice).toMatchObject({ type: 'event_left_out', why });
  expect(second.seen.position).toBeGreaterThan(0);
  second.close();
});

function batchesOf(log: readonly Uint8Array[]): ProjectedBatch[] {
  let firstRecord = 0;
  return log.map((bytes) => {
    let recordCount = 0;
    readEvents(bytes, UTF8, (_event, _at, place) => {
      recordCount = place + 1;
    });
    const batch = { firstRecord, recordCount, bytes };
    firstRecord += recordCount;
    return batch;
  });
}

const LIMIT = 5;

/**
 * A search finds the same whether a task is in memory, in a row, or newer in memory than in its
 * row.
 */
function expectFound(projector: Projector, { ids }: World): void {
  const all = [...ids.keys()].flatMap((number) => projector.read(number) ?? []);
  const newestFirst = all.sort((a, b) => b.number - a.number);
  const namespaces = new Set(all.map(({ queue }) => namespaceOf(queue)));
  for (const namespace of namespaces) {
    for (const state of [undefined, ...new Set(TASK_STATES)]) {
      const meant = newestFirst.filter((record) => {
        const isIn = state === undefined || TASK_STATES[record.state] === state;
        return namespaceOf(record.queue) === namespace && isIn;
      });
      const found: AnyRecord[] = [];
      for (let before = Number.MAX_SAFE_INTEGER; ; before = found.at(-1)?.number ?? 0) {
        const query = { namespace, before, from: 0, limit: LIMIT, ...(state ? { state } : {}) };
        const times = { since: 0, until: Number.POSITIVE_INFINITY };
        const page = firstOf(projector.find(query, times));
        found.push(...page);
        if (page.length < LIMIT) break;
      }
      expect(found).toEqual(meant);
    }
  }
}

function firstOf(results: Iterable<AnyRecord | Passed>): AnyRecord[] {
  const page: AnyRecord[] = [];
  for (const result of results) {
    if (!('passed' in result) && page.push(result) === LIMIT) break;
  }
  return page;
}

function expectSame(projector: Projector, { partition: { state }, ids }: World): void {
  for (const number of ids.keys()) {
    const slot = state.tasks.find(number as TaskNumber);
    const record = projector.read(number);
    expect(record).toBeDefined();
    if (slot === NO_SLOT || record === undefined) continue;
    const { attempts: newest, ...memory } = shownTask(state, slot);
    const { attempts, ...stored } = shownRecord(record);
    expect(stored).toEqual(memory);
    // Once a task has changed again, memory cannot tell exactly how its last attempt ended.
    const [, from, to] = record.changes.at(-1) as ChangeRecord;
    if (newest.length > 0 && (isHeld(from) || isHeld(to))) {
      // What an attempt used is in the records only.
      const { usage: _, ...last } = attempts.at(-1) ?? {};
      expect(last).toEqual(newest[0]);
    }
  }
}
