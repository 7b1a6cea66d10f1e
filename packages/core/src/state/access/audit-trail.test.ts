import { expect, test } from 'vitest';
import { apply } from '../../apply/apply.ts';
import { makeEvents } from '../../events/make-events.ts';
import { SNAPSHOT_SCHEMA } from '../../snapshot/snapshot-archive.ts';
import { SnapshotLoader } from '../../snapshot/snapshot-loader.ts';
import { SnapshotSaver } from '../../snapshot/snapshot-saver.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { LIMITS } from '../../testing/world/world-arbitraries.ts';
import { persistState } from '../persist-state.ts';
import { State } from '../state.ts';
import { AUDIT_RECORDS_MAX } from './audit-trail.ts';

const MORE = 5;
const COUNT = AUDIT_RECORDS_MAX + MORE;

function stateAfter(records: number): State {
  const state = new State(0, LIMITS);
  for (let n = 1; n <= records; n++) record(state, n);
  return state;
}

function record(state: State, n: number): void {
  const event = makeEvents().auditRecorded;
  apply(state, 1000 + n, Object.assign(event, { actor: 'k_1', subject: `subject ${n}` }));
}

function reloaded(state: State): State {
  const pieces: Uint8Array[] = [];
  const saver = new SnapshotSaver((piece) => pieces.push(piece.slice()), testUtf8);
  persistState(state, saver);
  saver.end();
  const loaded = new State(0, LIMITS);
  persistState(loaded, new SnapshotLoader(pieces, testUtf8, SNAPSHOT_SCHEMA));
  return loaded;
}

test('of all records the newest are kept, newest first', () => {
  const { audit } = stateAfter(COUNT);

  const numbers = [...audit.before(audit.next)].map(({ number }) => number);

  expect(numbers).toHaveLength(AUDIT_RECORDS_MAX);
  expect([numbers[0], numbers.at(-1)]).toEqual([COUNT, MORE + 1]);
});

test('one can go on behind a number, whatever was added or dropped since', () => {
  const state = stateAfter(7);
  const [newest] = [...state.audit.before(8)].slice(0, 1);

  record(state, 8);

  expect(newest).toMatchObject({ number: 7, at: 1007, actor: 'k_1', subject: 'subject 7' });
  expect([...state.audit.before(newest.number)].map(({ number }) => number)).toEqual([
    6, 5, 4, 3, 2, 1,
  ]);
});

test('a snapshot keeps them in their places', () => {
  const lived = stateAfter(COUNT);

  const loaded = reloaded(lived);
  for (const state of [lived, loaded]) record(state, COUNT + 1);

  expect([...loaded.audit.before(COUNT + 2)]).toEqual([...lived.audit.before(COUNT + 2)]);
});
