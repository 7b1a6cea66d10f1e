/**
 * What a level has written stays as it is: servers of that level have to read it.
 *
 * A new event, a new version of one, or a new schema of snapshots belongs to a level above the last
 * released one: count up `LEVEL`, declare `level` at the event, and add the level to the list.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_LEVEL } from '@sluice/postgres/testing/store-fixture';
import { expect, test } from 'vitest';
import { EVENTS } from '../packages/core/src/events/events.ts';
import type { EventDeclaration } from '../packages/core/src/events/fields.ts';
import { LEVEL, SNAPSHOT_SCHEMA } from '../packages/core/src/index.ts';

interface ReleasedLevel {
  readonly snapshotSchema: number;
  /** `type version` of what it added. */
  readonly events: readonly string[];
}

const LEVELS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden', 'levels.json'), 'utf8'),
) as Readonly<Record<string, ReleasedLevel>>;

test('every event belongs to the level that its declaration says', () => {
  const declared: Record<string, string[]> = {};
  for (const [type, event] of Object.entries<EventDeclaration>(EVENTS)) {
    const { level = 1, version } = event;
    declared[level] ??= [];
    declared[level].push(`${type} ${version}`);
  }

  const listed = Object.entries(LEVELS).map(([level, { events }]) => [level, [...events].sort()]);
  const found = Object.entries(declared).map(([level, events]) => [level, events.sort()]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
});

test('the newest level is the one that this version writes', () => {
  const newest = Math.max(...Object.keys(LEVELS).map(Number));

  expect(LEVEL).toBe(newest);
  expect(STORE_LEVEL).toBe(newest);
  expect(SNAPSHOT_SCHEMA).toBe(LEVELS[newest].snapshotSchema);
});
