/** docs/tasks.md has every option with its default, every state and every reason. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { REASONS, TASK_STATES } from '../packages/core/src/task/task-state.ts';
import { TaskResources } from '../packages/protocol/src/schemas/resource-schemas.ts';
import { Retry, TaskRequest, Timeouts } from '../packages/protocol/src/schemas/task-schemas.ts';
import { TaskRequestParser } from '../packages/server/src/tasks/task-request.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../docs/tasks.md'), 'utf8');

/** Cells of the rows below a heading, by the names in the first cell. */
function rowsOf(heading: string): Map<string, readonly string[]> {
  const section = PAGE.split(`\n${heading}\n`)[1].split(/\n#+ /)[0];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.flatMap((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      return [...cells[1].matchAll(/`(\w+)`/g)].map(([, name]) => [name, cells.slice(2)] as const);
    }),
  );
}

test.each([
  ['## Options', TaskRequest],
  ['### Retry', Retry],
  ['### Timeouts', Timeouts],
  ['### Resources and constraints', TaskResources],
])('%s has the fields and defaults of the schema', (heading, schema) => {
  const rows = rowsOf(heading);
  const fields = Object.entries((schema as { properties: Record<string, TSchema> }).properties);

  expect([...rows.keys()].toSorted()).toEqual(fields.map(([name]) => name).toSorted());
  for (const [name, field] of fields) {
    const { default: value } = field as { default?: unknown };
    if (value !== undefined) expect(rows.get(name)?.[1], name).toBe(String(value));
  }
});

test('it has every state and every reason', () => {
  const states = new Set(TASK_STATES.filter((state) => state !== 'blocked'));
  const rows = [...rowsOf('## States').keys()];

  expect(new Set(rows.filter((name) => states.has(name as never)))).toEqual(states);
  expect(REASONS.filter((reason) => !rows.includes(reason))).toEqual([]);
  const known: readonly string[] = [...TASK_STATES, ...REASONS];
  expect(rows.filter((name) => !known.includes(name))).toEqual([]);
});

test('its examples are valid', () => {
  const examples = [...PAGE.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text);

  expect(examples).toHaveLength(3);
  for (const text of examples) {
    const problems: never[] = [];
    new TaskRequestParser().check(JSON.parse(text), '', problems);
    expect(problems, text).toEqual([]);
  }
});
