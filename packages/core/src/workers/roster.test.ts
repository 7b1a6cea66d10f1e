import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionId, Slot } from '../base/ids.ts';
import { parseShape } from '../task/shape.ts';
import { makeSession, Roster, type Session } from './roster.ts';

const TYPES = ['a', 'b', 'c', 'd'];
const ONE_SLOT = parseShape('');

test('a type that nobody handles has no ring', () => {
  const roster = new Roster();

  roster.setRoom(join(roster, 's', ['a']), true);

  expect(roster.ring('b')).toBeUndefined();
});

test('a session that is removed is neither found nor in a ring, and has no reservation', () => {
  const roster = new Roster();
  const session = join(roster, 's', ['a']);
  roster.setRoom(session, true);
  roster.reserve(session, 7 as Slot);

  roster.remove(session);

  expect(roster.ring('a')).toBeUndefined();
  expect(roster.find(session.id)).toBeUndefined();
  expect([roster.size, roster.reservationCount]).toEqual([0, 0]);
});

test('a session that names a type twice stands in its ring once', () => {
  const roster = new Roster();

  roster.setRoom(join(roster, 's1', ['a', 'a']), true);

  expect(members(roster, 'a')).toEqual(['s1']);
});

test('a session leaves the ring of a type of which it runs as many as it said', () => {
  const roster = new Roster();
  const session = makeSession('default', 's' as SessionId);
  roster.add(session);
  roster.setTypes(session, [{ type: 'a', concurrency: 2 }, { type: 'b' }]);
  roster.setRoom(session, true);

  roster.take(session, 'a', ONE_SLOT);
  roster.take(session, 'a', ONE_SLOT);

  expect([members(roster, 'a'), members(roster, 'b')]).toEqual([[], ['s']]);
  roster.giveBack(session, 'a', ONE_SLOT);
  expect(members(roster, 'a')).toEqual(['s']);
});

test('a refusal ends in its time, and not before when it was repeated', () => {
  const roster = new Roster();
  const session = join(roster, 's', ['a']);
  roster.refuse(session, 1, 1000);
  session.refused.clear();
  roster.refuse(session, 1, 1500);

  expect([roster.takeEndedRefusal(999), roster.nextRefusalEndsAt]).toEqual([undefined, 1000]);
  expect(roster.takeEndedRefusal(1000)).toBe(session);
  expect(session.refused.has(1)).toBe(true);
  expect(roster.takeEndedRefusal(1500)).toBe(session);
  expect(session.refused.size).toBe(0);
  expect(roster.nextRefusalEndsAt).toBe(Number.POSITIVE_INFINITY);
});

test('a session is in exactly the rings of its types while it has room (roster.open-rings)', () => {
  const actions = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('room' as const), session: fc.nat(5), room: fc.boolean() }),
      fc.record({
        kind: fc.constant('types' as const),
        session: fc.nat(5),
        types: fc.subarray(TYPES),
      }),
      fc.record({ kind: fc.constant('remove' as const), session: fc.nat(5) }),
    ),
    { maxLength: 60, size: 'max' },
  );
  fc.assert(
    fc.property(actions, (list) => {
      const roster = new Roster();

      for (const action of list) {
        actOnSession(roster, action);

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
  else if (action.kind === 'types') roster.setTypes(session, offered(action.types));
  else roster.remove(session);
}

function join(roster: Roster, id: string, types: readonly string[]): Session {
  const session = makeSession('default', id as SessionId);
  roster.add(session);
  roster.setTypes(session, offered(types));
  return session;
}

function offered(types: readonly string[]) {
  return types.map((type) => ({ type }));
}

function members(roster: Roster, type: string): string[] {
  return (roster.ring(type)?.sessions ?? []).map(({ id }) => id as string).toSorted();
}

function expected(roster: Roster, type: string): string[] {
  return [...roster.sessions()]
    .filter((session) => session.hasRoom && session.types.includes(type))
    .map((session) => session.id as string)
    .toSorted();
}
