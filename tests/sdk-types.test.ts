import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sdkTypes, TARGETS } from '../scripts/sdk-types.ts';

test('the types of the SDK are those of the schemas', () => {
  const made = sdkTypes();

  for (const target of TARGETS) {
    const kept = readFileSync(target, 'utf8');
    expect(kept, 'run `npx node scripts/sdk-types.ts`').toBe(made.get(target));
  }
});

test('every field of a task that the API shows has a type', () => {
  const kept = TARGETS.map((target) => readFileSync(target, 'utf8')).join('');
  const [, view = ''] = /interface TaskView (\{.*?^\})/ms.exec(kept) ?? [];

  for (const field of ['resources', 'retry', 'callback', 'inputBlob', 'progress']) {
    expect(view).toMatch(new RegExp(`readonly ${field}\\??: (?!unknown)`));
  }
});
