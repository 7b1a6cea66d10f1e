import { expect, test } from 'vitest';
import { DedupeTable } from '../state/dedupe-table.ts';
import { TaskTable } from '../state/task-table.ts';
import { ColumnTable, columnsOf } from './columns.ts';

class Pair extends ColumnTable {
  readonly first = new Uint8Array(this.capacity);
  count = 0;
  private readonly second = new Float64Array(this.capacity * 2);

  sum(): number {
    return this.first[0] + this.second[0];
  }
}

test('the columns of a table are found by name, in order, private ones too', () => {
  const pair = new Pair(3);

  const columns = [...columnsOf(pair)].map(([name, column]) => [name, column.length]);

  expect(columns).toEqual([
    ['first', 3],
    ['second', 6],
  ]);
  expect(columnsOf(pair).get('first')).toBe(pair.first);
});

test('every column of the tables has a whole number of entries per slot', () => {
  for (const table of [new TaskTable(7), new DedupeTable(7)]) {
    for (const [name, column] of columnsOf(table)) {
      expect.soft(column.length % 7, name).toBe(0);
      expect.soft(column.length, name).toBeGreaterThan(0);
    }
  }
});
