import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionId } from './ids.ts';
import { Roster, type Session } from './roster.ts';

const TYPES = ['a', 'b', 'c', 'd'];

test('a type that nobody handles has nobody to pick', () => {
  const roster = new Roster();
  const session = join(roster, 's', ['a']);

  roster.setRoom(session, true);

  expect(roster.pick('b')).toBeUndefined();
});

test('picks go round among the sessions with room', () => {
  const roster = new Roster();
  for (const id of ['s1', 's2', 's3']) roster.setRoom(join(roster, id, ['a']), true);

  const picked = Array.from({ length: 7 }, () => roster.pick('a')?.id);

  expect(picked).toEqual(['s1', 's2', 's3', 's1', 's2', 's3', 's1']);
});

test('each type goes round by itself', () => {
  const roster = new Roster();
  for (const id of ['s1', 's2']) roster.setRoom(join(roster, id, ['a', 'b']), true);

  const picked = ['a', 'b', 'a', 'b'].map((type) => roster.pick(type)?.id);

  expect(picked).toEqual(['s1', 's1', 's2', 's2']);
});

test('a session that is removed is neither found nor picked', () => {
  const roster = new Roster();
  const session = join(roster, 's', ['a']);
  roster.setRoom(session, true);

  roster.remove(session);

  expect(roster.pick('a')).toBeUndefined();
  expect(roster.find(session.id)).toBeUndefined();
  expect(roster.size).toBe(0);
});

test('a session that names a type twice leaves it whole', () => {
  const roster = new Roster();
  const twice = join(roster, 's1', ['a', 'a']);
  roster.setRoom(twice, true);
  roster.setRoom(join(roster, 's2', ['a']), true);

  roster.setRoom(twice, false);

  expect(members(roster, 'a')).toEqual(['s2']);
});

test('a session is picked for exactly its types exactly while it has room (R1)', () => {
  const actions = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('room' as const), session: fc.nat(5), room: fc.boolean() }),
      fc.record({
        kind: fc.constant('types' as const),
        session: fc.nat(5),
        types: fc.subarray(TYPES),
      }),
      fc.record({ kind: fc.constant('remove' as const), session: fc.nat(5) }),
      fc.record({ kind: fc.constant('pick' as const), type: fc.constantFrom(...TYPES) }),
    ),
    { maxLength: 60, size: 'max' },
  );
  fc.assert(
    fc.property(actions, (list) => {
      const roster = new Roster();

      for (const action of list) {
        if (action.kind === 'pick') roster.pick(action.type);
        else actOnSession(roster, action);

        for (const type of TYPES) expect(members(roster, type)).toEqual(expected(roster, type));
      }
    }),
  );
});

type SessionAction =
  | { readonly kind: 'room'; readonly session: number; readonly room: boolean }
  | { readonly kind: 'types'; readonly session: number; readonly types: readonly string[] }
  | { readonly kind: 'remove'; readonly session: number };

function actOnSession(roster: Roster, action: SessionAction): void {
  const id = `s${action.session}`;
  const session = roster.find(id as SessionId) ?? join(roster, id, TYPES);
  if (action.kind === 'room') roster.setRoom(session, action.room);
  else if (action.kind === 'types') roster.setTypes(session, action.types);
  else roster.remove(session);
}

function join(roster: Roster, id: string, types: readonly string[]): Session {
  const session: Session = {
    id: id as SessionId,
    namespace: 'default',
    worker: 'w',
    types: [],
    slots: 1,
    leaseMs: 3000,
    connection: 1,
    connected: true,
    heardAt: 0,
    graceUntil: 0,
    unsentBytes: 0,
    hasRoom: false,
    ringPlaces: [],
  };
  roster.add(session);
  roster.setTypes(session, types);
  return session;
}

/** As many picks as there are sessions go round the whole ring. */
function members(roster: Roster, type: string): string[] {
  const picks = Array.from({ length: roster.size }, () => roster.pick(type)?.id ?? '');
  return [...new Set(picks)].filter((id) => id !== '').toSorted();
}

function expected(roster: Roster, type: string): string[] {
  return [...roster.sessions()]
    .filter((session) => session.hasRoom && session.types.includes(type))
    .map((session) => session.id as string)
    .toSorted();
}
