import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EVENTS } from '@sluice/core';
import { expect, test } from 'vitest';

const SOURCE = readFileSync(fileURLToPath(new URL('task-record.ts', import.meta.url)), 'utf8');

/** They make a record, or change nothing that it shows. */
const OTHERS = ['task_submitted', 'task_readmitted', 'task_forgotten'];

test('every event of a task has its case, so that no history leaves it out', () => {
  const ofTasks = Object.keys(EVENTS).filter((type) =>
    /^(task|attempts?|dead_letter|callback)_/.test(type),
  );
  expect(ofTasks.length).toBeGreaterThan(20);

  const missing = ofTasks.filter((type) => !SOURCE.includes(`case '${type}':`));

  expect(missing.filter((type) => type !== 'task_type_changed').sort()).toEqual(OTHERS.sort());
});
