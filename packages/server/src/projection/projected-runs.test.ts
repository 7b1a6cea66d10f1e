import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DeleteWorkflow, readEvents, type SessionId, type Slot } from '@sluice/core';
import { TestRuns } from '@sluice/core/testing/runs/test-runs';
import { TestPartition } from '@sluice/core/testing/test-partition';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { runJson } from '../answers/shown-run.ts';
import { UTF8 } from '../base/utf8.ts';
import { runSource } from '../runs/run-view.ts';
import { Projector } from './projector.ts';
import type { ProjectedBatch, ProjectorNotice } from './projector-parts.ts';
import { runRecordSource } from './run-record-view.ts';

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

const simple = (reference: string, more: object = {}) => ({
  name: 'work',
  taskReferenceName: reference,
  inputParameters: { of: '${workflow.input}' },
  ...more,
});

const DEFINITIONS = [
  { tasks: [simple('one'), simple('two', { optional: true }), simple('three')] },
  {
    tasks: [
      {
        taskReferenceName: 'fork',
        type: 'FORK_JOIN',
        forkTasks: [[simple('left', { permissive: true })], [simple('right')]],
      },
      { taskReferenceName: 'join', type: 'JOIN' },
      simple('last', { inputParameters: { both: '${join.output}' } }),
    ],
  },
  {
    tasks: [
      {
        taskReferenceName: 'set',
        type: 'SET_VARIABLE',
        inputParameters: { seen: '${workflow.input}' },
      },
      {
        taskReferenceName: 'switch',
        type: 'SWITCH',
        expression: 'value',
        inputParameters: { value: '${workflow.input}' },
        decisionCases: {
          1: [
            {
              taskReferenceName: 'end',
              type: 'TERMINATE',
              inputParameters: { terminationStatus: 'FAILED', terminationReason: 'it was 1' },
            },
          ],
        },
        defaultCase: [simple('other')],
      },
      { taskReferenceName: 'nothing', type: 'NOOP' },
    ],
    variables: { seen: null },
  },
];

type Action = readonly [
  'register' | 'delete' | 'start' | 'inline' | 'succeed' | 'fail' | 'cancel',
  number,
];

const actions: fc.Arbitrary<Action> = fc.tuple(
  fc.constantFrom('register', 'delete', 'start', 'start', 'inline', 'succeed', 'fail', 'cancel'),
  fc.nat({ max: 8 }),
);

/** Runs of workflows whose versions come and go, so that places are used again. */
class RunWorld {
  readonly partition = new TestPartition();
  private readonly runs = new TestRuns(this.partition);
  private readonly session: SessionId;
  private readonly numbers: number[] = [];

  constructor() {
    const worker = this.partition.attach({ types: ['work'], slots: 4 });
    this.session = worker.session as SessionId;
  }

  act([what, n]: Action): void {
    const name = `flow-${n % 2}`;
    const definition = DEFINITIONS[n % DEFINITIONS.length];
    this.partition.now += 1 + n * 100;
    if (what === 'register') this.runs.register(name, definition);
    if (what === 'delete') {
      this.partition.operate<DeleteWorkflow>({ type: 'delete_workflow', name, version: 1 });
    }
    if (what === 'start') this.begin(name, n);
    if (what === 'inline') {
      const text = JSON.stringify(definition);
      this.begin('inline', n, { definition: { text, hash: text }, tags: { n: `${n}` } });
    }
    if (what === 'succeed' || what === 'fail') this.report(what === 'succeed', n);
    const run = this.numbers.at(-1 - n);
    if (what === 'cancel' && run !== undefined) this.runs.cancel(run);
  }

  private begin(name: string, n: number, more: object = {}): void {
    const correlationId = `c-${n}`;
    const { rejection, slots } = this.runs.start(name, n % 3, { correlationId, ...more });
    if (rejection !== undefined) return;
    this.numbers.push(this.partition.state.runs.table.number[slots[0]]);
  }

  private report(hasSucceeded: boolean, n: number): void {
    const [lease] = this.partition.leasesOf(this.session);
    if (lease === undefined) return;
    const payload = JSON.stringify(hasSucceeded ? { n } : { message: 'no' });
    const kind = hasSucceeded ? 'succeeded' : 'failed';
    this.partition.report(this.session, { lease, kind, payload, retryable: n % 2 === 0 });
  }
}

const between = fc.constantFrom('take', 'save', 'save old', 'save all', 'crash');

/** Longer than open tasks and runs are kept in memory. */
const LONG_MS = 20_000;

const CRASHES_MAX = 10;

test('rows of runs show what memory has, whenever they are written and wherever it crashes', () => {
  let compared = 0;
  const sequences = fc.array(actions, { minLength: 20, maxLength: 80, size: 'max' });
  fc.assert(
    fc.property(sequences, fc.infiniteStream(between), (sequence, moments) => {
      const world = new RunWorld();
      for (const action of sequence) world.act(action);
      const notices: ProjectorNotice[] = [];
      const folder = newFolder();
      const open = () =>
        Projector.open({ folder, retention: RETENTION, notify: (it) => void notices.push(it) });
      let projector = open();
      const batches = batchesOf(world.partition.log());
      const tail = batches.reduce((sum, { recordCount }) => sum + recordCount, 0);
      for (let crashes = 0; projector.seen.position < tail; ) {
        const next = projector.seen.position;
        const batch = batches.find(({ firstRecord }) => firstRecord === next);
        projector.take(batch as ProjectedBatch);
        const moment = moments.next().value;
        if (moment === 'save') projector.save(projector.seen.at);
        if (moment === 'save old') projector.save(projector.seen.at + LONG_MS);
        if (moment === 'save all') projector.saveAll();
        if (moment !== 'crash' || crashes === CRASHES_MAX) continue;
        crashes += 1;
        projector.close();
        projector = open();
      }

      compared += expectSame(projector, world.partition);
      projector.saveAll();
      expectSame(projector, world.partition);
      expect(notices).toEqual([]);
      projector.close();
    }),
    { numRuns: 15, endOnFailure: true },
  );
  expect(compared).toBeGreaterThan(10);
}, 60_000);

function expectSame(projector: Projector, { state }: TestPartition): number {
  const { table } = state.runs;
  let compared = 0;
  for (let slot = 0; slot < table.used; slot++) {
    const number = table.number[slot];
    if (number === 0) continue;
    const record = projector.readRun(number);
    const stored =
      record === undefined
        ? {}
        : JSON.parse(runJson(runRecordSource(record, (task) => projector.read(task))));
    expect(stored).toEqual(JSON.parse(runJson(runSource(state, slot as Slot))));
    compared += 1;
  }
  return compared;
}

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

test('after a loss of its files it learns the definitions that the log no longer has', () => {
  const world = new RunWorld();
  world.act(['register', 0]);
  const lost = world.partition.log().length;
  world.act(['start', 0]);
  world.act(['succeed', 0]);
  const kept = batchesOf(world.partition.log()).slice(lost);
  const folder = newFolder();
  const projector = Projector.open({ folder, retention: RETENTION, notify: fail });

  projector.begin(kept[0].firstRecord, world.partition.state.programs.all());
  projector.skipTo(kept[0].firstRecord);
  for (const batch of kept) projector.take(batch);

  expect(expectSame(projector, world.partition)).toBe(1);
  projector.saveAll();
  projector.close();
  const again = Projector.open({ folder, retention: RETENTION, notify: fail });
  expect(again.knownPrograms).toEqual([0]);
  again.close();
});

test('a loop that begins again after iterations left memory shows each step once', () => {
  const partition = new TestPartition({ finishedTasksMax: 50 });
  const runs = new TestRuns(partition);
  const { session } = partition.attach({ types: ['work'], slots: 1 });
  const loop = (reference: string, more: object = {}) => ({
    taskReferenceName: reference,
    type: 'DO_WHILE',
    items: [1, 2, 3, 4],
    inputParameters: { keepLastN: 1 },
    loopOver: [{ taskReferenceName: `${reference}-body`, type: 'NOOP' }],
    ...more,
  });
  runs.register('flow', { tasks: [loop('a'), simple('between'), loop('b')] });
  const run = runs.begin('flow');
  const finish = (): void => {
    const [lease] = partition.leasesOf(session);
    partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  };
  finish();
  runs.revive(run, 'rerun', 'b');
  runs.revive(run, 'restart');
  finish();
  const projector = Projector.open({ folder: newFolder(), retention: RETENTION, notify: fail });

  for (const batch of batchesOf(partition.log())) projector.take(batch);

  const { steps = [] } = projector.readRun(run) ?? {};
  const references = steps.map(({ reference }) => reference);
  expect(references.toSorted()).toEqual([
    'a',
    ...[1, 2, 3, 4].map((n) => `a-body__${n}`),
    'b',
    ...[1, 2, 3, 4].map((n) => `b-body__${n}`),
    'between',
  ]);
  projector.close();
});

function fail(notice: ProjectorNotice): void {
  throw new Error(JSON.stringify(notice));
}
