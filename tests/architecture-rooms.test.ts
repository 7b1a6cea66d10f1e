/** The picture of the rooms in ARCHITECTURE.md has the rooms that the check enforces, in order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOMS } from './tidy/rooms.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../ARCHITECTURE.md'), 'utf8');

/** The rooms of each package as the page says them, without files and remarks. */
function drawnRooms(page: string): ReadonlyMap<string, readonly string[]> {
  const [, picture] = /## Rooms\n[\s\S]*?```\n([\s\S]*?)```/.exec(page) ?? [];
  const lines = (picture ?? '').replaceAll(/\n {6,}(?=\S)/g, ' ').split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [, name, way] = /^ (\w+) +(.*)$/.exec(line) ?? [];
      if (name === undefined || !way.includes('→')) return [];
      const words = way.replaceAll(/\(.*\)/g, '').split(/→|,/);
      const rooms = words.map((word) => word.trim().replace(/\/\*$/, ''));
      return [
        [name, rooms.filter((room) => ROOMS[name]?.some((each) => outermost(each) === room))],
      ];
    }),
  );
}

function outermost(room: string): string {
  return room.split('/')[0];
}

test.each(Object.entries(ROOMS))('the rooms of %s are drawn in their order', (name, rooms) => {
  const outer = [...new Set(rooms.map(outermost))].filter((room) => room !== '');

  expect(drawnRooms(PAGE).get(name)).toEqual(outer);
});

test('a room that is missing in the picture is noticed', () => {
  const page = PAGE.replace('base → clock → config', 'base → config');

  expect(drawnRooms(page).get('server')).not.toContain('clock');
});
