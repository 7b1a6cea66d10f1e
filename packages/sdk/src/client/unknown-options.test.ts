import { expect, test } from 'vitest';
import { Sluice } from '../node/sluice.ts';
import { defineTask } from '../task/define-task.ts';
import { TestSluice } from '../test-sluice/test-sluice.ts';
import { defineWorkflow } from '../workflow/define-workflow.ts';

/** Calls of a program in plain JavaScript, which no compiler checks. */
const plain = { Sluice, TestSluice, defineTask, defineWorkflow } as unknown as Record<
  'Sluice' | 'TestSluice',
  new (
    ...given: unknown[]
  ) => unknown
> &
  Record<'defineTask' | 'defineWorkflow', (...given: unknown[]) => unknown>;

test.each([
  [
    'new Sluice',
    () => new plain.Sluice({ ulr: 'http://127.0.0.1:1' }),
    "the options of Sluice have no field 'ulr'; did you mean 'url'?",
  ],
  [
    'an address instead of options',
    () => new plain.Sluice('http://127.0.0.1:1'),
    'the options of Sluice must be an object, not string',
  ],
  [
    'a task type',
    () => plain.defineTask({ typ: 'mail' }),
    "the options of defineTask have no field 'typ'; did you mean 'type'?",
  ],
  [
    'the options of a task type',
    () => plain.defineTask({ type: 'mail', retires: { maxAttempts: 1 }, timeout: 3 }),
    "the options of defineTask have no field 'retires'; use type, concurrency, run, priority, " +
      'resources, constraints, placement, retry, timeouts, tags, callback; ' +
      "the options of defineTask have no field 'timeout'; did you mean 'timeouts'?",
  ],
  [
    'a field like no other',
    () => new plain.Sluice({ somethingElse: 1 }),
    "the options of Sluice have no field 'somethingElse'; " +
      'use url, apiKey, followOwner, giveUpAfterMs, onWarning',
  ],
  [
    'new TestSluice',
    () => new plain.TestSluice([], { sed: 1 }),
    "the options of TestSluice have no field 'sed'; did you mean 'seed'?",
  ],
  [
    'a workflow',
    () => plain.defineWorkflow('order', { versoin: 1 }, () => undefined),
    "the options of the workflow 'order' have no field 'versoin'; did you mean 'version'?",
  ],
])('%s is refused with a misspelled field', (_what, call, message) => {
  expect(call).toThrow(new TypeError(message));
});

test('work is refused with a misspelled field, before it connects', async () => {
  const sluice = new Sluice({ url: 'http://127.0.0.1:1' });
  const mail = defineTask({ type: 'mail', run: () => null });
  const options = { slot: 3 } as object;

  await expect(sluice.work([mail], options)).rejects.toThrow(
    new TypeError("the options of work have no field 'slot'; did you mean 'slots'?"),
  );
  await sluice.close();
});

test('a wait with a misspelled timeout is refused instead of waiting for ever', async () => {
  const sluice = new TestSluice([]);
  const handle = await sluice.submit('a', null);
  const misspelled = { timeout: 5 } as object;

  const message = "the options of a wait have no field 'timeout'; did you mean 'timeoutMs'?";
  await expect(handle.wait(misspelled)).rejects.toThrow(message);
  await expect(handle.result(misspelled)).rejects.toThrow(message);
});
