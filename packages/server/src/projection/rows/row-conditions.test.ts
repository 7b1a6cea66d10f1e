import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DayFile } from './day-file.ts';
import { isCovered, searchOf } from './row-conditions.ts';
import type { RowQuery } from './row-query.ts';

let folder: string;
let db: DatabaseSync;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-plans-'));
  const path = join(folder, 'day.sqlite');
  new DayFile(path, { onLeftOut: () => undefined }).close();
  db = new DatabaseSync(path);
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

/** SQLite's query plan for a search. */
function planOf(query: Partial<RowQuery>): string {
  const all = { namespace: 'shop', before: 1e9, from: 0, limit: 50, ...query };
  const { text, values } = searchOf(all, () => 1);
  const steps = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values);
  return steps.map(({ detail }) => detail).join('; ');
}

test.each([
  [{}, 'by_namespace (namespace=? AND number>? AND number<?)'],
  [{ state: 'succeeded' }, 'by_namespace (namespace=? AND number>? AND number<?)'],
  [{ state: 'failed' }, 'by_state (namespace=? AND state=? AND number>? AND number<?)'],
  [{ queue: 'shop/mail' }, 'by_queue (queue=? AND number>? AND number<?)'],
  [{ queue: 'shop/mail', state: 'failed' }, 'by_queue_state (queue=? AND state=? AND number>?'],
  [{ parent: 't_1' }, 'by_parent (parent=? AND number>? AND number<?)'],
  [{ parent: 't_1', queue: 'shop/mail' }, 'by_parent (parent=? AND number>? AND number<?)'],
  [{ tags: { a: 'b' } }, 'SEARCH led USING PRIMARY KEY (tag=? AND number>? AND number<?)'],
  [{ tags: { a: 'b' }, state: 'failed' }, 'SEARCH led USING PRIMARY KEY (tag=? AND number>?'],
  [{ text: 'needle' }, 'by_namespace (namespace=? AND number>? AND number<?)'],
])('a search by %o looks at rows of its namespace alone', (query, plan) => {
  expect(planOf(query)).toContain(plan);
  expect(planOf(query)).not.toContain('TEMP B-TREE');
});

test('a tag of another namespace is another entry of the index', () => {
  const { values } = searchOf(
    { namespace: 'shop', before: 1, from: 0, limit: 1, tags: { team: 'a' } },
    (name) => (name === 'shop/' ? 7 : -1),
  );

  expect(values).toContain('[7,"team","a"]');
});

test('a search that no index has all of is one that looks at rows which are not meant', () => {
  const isAll = (query: Partial<RowQuery>) => {
    return isCovered({ namespace: 'shop', before: 1, from: 0, limit: 1, ...query });
  };

  const covered = [{}, { queue: 'a' }, { state: 'failed' }, { parent: 't' }, { tags: { a: 'b' } }];
  expect(covered.map(isAll)).toEqual(covered.map(() => true));
  expect(isAll({ queue: 'a', state: 'failed' })).toBe(true);
  const others = [{ state: 'succeeded' }, { text: 'x' }, { parent: 't', queue: 'a' }];
  expect(others.map(isAll)).toEqual(others.map(() => false));
  expect(isAll({ tags: { a: 'b', c: 'd' } })).toBe(false);
  expect(isAll({ state: 'failed', isOpen: true })).toBe(false);
});
