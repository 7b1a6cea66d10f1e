import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHeld, NO_SLOT, readEvents, type TaskNumber } from '@sluice/core';
import { World } from '@sluice/core/testing/world';
import { actions, passedMs } from '@sluice/core/testing/world-actions';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { shownTask } from '../tasks/task-view.ts';
import { UTF8 } from '../utf8.ts';
import { type ProjectedBatch, Projector } from './projector.ts';
import { shownRecord } from './record-view.ts';
import type { ChangeRecord } from './task-record.ts';

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
  return new Projector({ folder, retention: RETENTION, notify: () => undefined });
}

const sequences = fc.array(fc.tuple(actions, passedMs), {
  minLength: 10,
  maxLength: 60,
  size: 'max',
});

const CRASHES_MAX = 10;

/** What happens between two batches. */
const steps = fc.constantFrom('take', 'save', 'save all', 'crash');

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
        if (step === 'save') projector.save(false);
        if (step === 'save all') projector.save(true);
        if (step !== 'crash' || crashes === CRASHES_MAX) continue;
        crashes += 1;
        projector.close();
        projector = open(folder);
      }

      expectSame(projector, world);
      projector.save(true);
      expect(projector.saved.position).toBe(tail);
      projector.close();
    }),
    { numRuns: 25, endOnFailure: true },
  );
}, 60_000);

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

function expectSame(projector: Projector, { partition: { state }, ids }: World): void {
  for (const number of ids.keys()) {
    const slot = state.tasks.find(number as TaskNumber);
    const record = projector.read(number);
    expect(record).toBeDefined();
    if (slot === NO_SLOT || record === undefined) continue;
    const { attempts: newest, ...memory } = shownTask(state, slot);
    const { attempts, ...stored } = shownRecord(record);
    expect(stored).toEqual(memory);
    // Once more has happened to a task, memory cannot tell exactly how its last attempt ended.
    const { from, to } = record.changes.at(-1) as ChangeRecord;
    if (newest.length > 0 && (isHeld(from) || isHeld(to))) {
      expect(attempts.at(-1)).toEqual(newest[0]);
    }
  }
}
