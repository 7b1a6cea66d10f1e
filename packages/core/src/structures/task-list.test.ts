import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_SLOT, type Slot } from '../base/ids.ts';
import { type ListLinks, TaskList } from './task-list.ts';

const SLOTS = 12;

test('an empty list has neither head nor tail', () => {
  const list = new TaskList(makeLinks());

  expect([list.head, list.tail, list.length]).toEqual([NO_SLOT, NO_SLOT, 0]);
});

test('what is appended stands behind, what is prepended in front', () => {
  const links = makeLinks();
  const list = new TaskList(links);

  list.append(3 as Slot);
  list.append(5 as Slot);
  list.prepend(1 as Slot);

  expect(forwards(list, links)).toEqual([1, 3, 5]);
});

test('a list is an array after any appends, prepends and removals, read from both ends', () => {
  const actions = fc.array(
    fc.record({
      kind: fc.constantFrom('append' as const, 'prepend' as const, 'remove' as const),
      slot: fc.nat(SLOTS - 1),
    }),
    { maxLength: 80, size: 'max' },
  );
  fc.assert(
    fc.property(actions, (list) => {
      const links = makeLinks();
      const lists = [new TaskList(links), new TaskList(links)];
      const models: number[][] = [[], []];

      for (const { kind, slot } of list) {
        // Two lists share the columns; a slot is in one of them at most.
        const side = slot % 2;
        act({ list: lists[side], model: models[side] }, kind, slot);

        lists.forEach((each, index) => {
          expect(forwards(each, links)).toEqual(models[index]);
          expect(backwards(each, links)).toEqual(models[index].toReversed());
          expect(each.length).toBe(models[index].length);
        });
      }
    }),
  );
});

function act(
  { list, model }: { readonly list: TaskList; readonly model: number[] },
  kind: 'append' | 'prepend' | 'remove',
  slot: number,
): void {
  const isIn = model.includes(slot);
  if (kind === 'remove') {
    if (!isIn) return;
    list.remove(slot as Slot);
    model.splice(model.indexOf(slot), 1);
    return;
  }
  if (isIn) return;
  list[kind](slot as Slot);
  if (kind === 'append') model.push(slot);
  else model.unshift(slot);
}

function makeLinks(): ListLinks {
  // Garbage in the columns stands for the links of earlier tasks.
  return { next: new Int32Array(SLOTS).fill(7), previous: new Int32Array(SLOTS).fill(3) };
}

function forwards(list: TaskList, links: ListLinks): number[] {
  return follow(list.head, links.next);
}

function backwards(list: TaskList, links: ListLinks): number[] {
  return follow(list.tail, links.previous);
}

function follow(start: Slot, links: Int32Array): number[] {
  const slots: number[] = [];
  for (let slot: number = start; slot !== NO_SLOT && slots.length <= SLOTS; slot = links[slot]) {
    slots.push(slot);
  }
  return slots;
}
