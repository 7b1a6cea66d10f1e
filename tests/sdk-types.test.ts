import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sdkTypes, TARGET } from '../scripts/sdk-types.ts';

test('the types of the SDK are those of the schemas', () => {
  const kept = readFileSync(TARGET, 'utf8');

  expect(kept, 'run `npx node scripts/sdk-types.ts`').toBe(sdkTypes());
});

test('every field of a task that the API shows has a type', () => {
  const kept = readFileSync(TARGET, 'utf8');
  const view = kept.slice(kept.indexOf('interface TaskView'));

  for (const field of ['resources', 'retry', 'callback', 'inputBlob', 'progress']) {
    expect(view).toMatch(new RegExp(`readonly ${field}\\??: (?!unknown)`));
  }
});
