import { expect, test } from 'vitest';
import { type HolderIndex, NO_HOLDER, type SessionId, type Slot } from '../base/ids.ts';
import { LeaseHolders } from './lease-holders.ts';

const A = 'a' as SessionId;
const B = 'b' as SessionId;
const C = 'c' as SessionId;

test('a session that was never given a lease has no entry', () => {
  const holders = emptyHolders();

  expect(holders.find(A)).toBe(NO_HOLDER);
  expect([...holders.holding()]).toEqual([]);
});

test('interning a session twice finds its entry, with the newest worker and lease time', () => {
  const holders = emptyHolders();
  const first = holders.intern({ session: A, worker: 'old', leaseMs: 3000, resume: 0 });

  const second = holders.intern({ session: A, worker: 'new', leaseMs: 9000, resume: 0 });

  expect(second).toBe(first);
  expect(holders.at(first)).toMatchObject({ session: A, worker: 'new', leaseMs: 9000 });
});

test('what a session holds is visited oldest lease first', () => {
  const holders = emptyHolders();
  const a = holders.intern({ session: A, worker: 'w', leaseMs: 3000, resume: 0 });
  for (const slot of [4, 2, 7]) holders.hold(a, slot as Slot, 10);

  holders.letGo(a, 2 as Slot);

  expect(heldBy(holders, a)).toEqual([4, 7]);
});

test('the time of holding starts with the first of the leases held at once', () => {
  const holders = emptyHolders();
  const a = holders.intern({ session: A, worker: 'w', leaseMs: 3000, resume: 0 });
  holders.hold(a, 0 as Slot, 10);
  holders.hold(a, 1 as Slot, 20);
  expect(holders.at(a).heldSince).toBe(10);

  holders.letGo(a, 0 as Slot);
  holders.letGo(a, 1 as Slot);
  holders.hold(a, 2 as Slot, 30);

  expect(holders.at(a).heldSince).toBe(30);
});

test('only sessions that hold a lease now are holding', () => {
  const holders = emptyHolders();
  const a = holders.intern({ session: A, worker: 'w', leaseMs: 3000, resume: 0 });
  const b = holders.intern({ session: B, worker: 'w', leaseMs: 3000, resume: 0 });
  holders.hold(a, 0 as Slot, 10);
  holders.hold(b, 1 as Slot, 10);

  holders.letGo(a, 0 as Slot);

  expect([...holders.holding()].map((holder) => holder.session)).toEqual([B]);
});

test('an entry lives as long as any task names it, also for a past lease', () => {
  const holders = emptyHolders();
  const a = holders.intern({ session: A, worker: 'w', leaseMs: 3000, resume: 0 });
  holders.hold(a, 0 as Slot, 10);
  holders.hold(a, 1 as Slot, 10);
  holders.letGo(a, 0 as Slot);
  holders.letGo(a, 1 as Slot);

  holders.forget(a);

  expect(holders.find(A)).toBe(a);
  holders.forget(a);
  expect(holders.find(A)).toBe(NO_HOLDER);
  expect(holders.at(a).session).toBe('');
});

test('a free entry is used again, as if it were new', () => {
  const holders = emptyHolders();
  const a = holders.intern({ session: A, worker: 'old', leaseMs: 3000, resume: 0 });
  const b = holders.intern({ session: B, worker: 'w', leaseMs: 3000, resume: 0 });
  holders.hold(a, 0 as Slot, 10);
  holders.letGo(a, 0 as Slot);
  holders.forget(a);

  const c = holders.intern({ session: C, worker: 'new', leaseMs: 9000, resume: 0 });

  expect(c).toBe(a);
  expect(holders.at(c)).toMatchObject({ session: C, worker: 'new', leaseMs: 9000, heldSince: 0 });
  expect(heldBy(holders, c)).toEqual([]);
  expect([holders.find(A), holders.find(B), holders.find(C)]).toEqual([NO_HOLDER, b, c]);
});

test('a session that comes back after its entry was given away gets another one', () => {
  const holders = emptyHolders();
  const a = holders.intern({ session: A, worker: 'w', leaseMs: 3000, resume: 0 });
  holders.hold(a, 0 as Slot, 10);
  holders.letGo(a, 0 as Slot);
  holders.forget(a);
  const c = holders.intern({ session: C, worker: 'w', leaseMs: 3000, resume: 0 });

  const again = holders.intern({ session: A, worker: 'w', leaseMs: 3000, resume: 0 });

  expect(again).not.toBe(c);
  expect(holders.find(C)).toBe(c);
});

function emptyHolders(): LeaseHolders {
  return new LeaseHolders({ next: new Int32Array(8), previous: new Int32Array(8) });
}

function heldBy(holders: LeaseHolders, index: HolderIndex): number[] {
  const slots: number[] = [];
  holders.forEachHeld(index, (slot) => slots.push(slot));
  return slots;
}
