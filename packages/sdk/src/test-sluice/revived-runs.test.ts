import { expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { PermanentFailure } from '../task/failures.ts';
import { defineWorkflow } from '../workflow/define-workflow.ts';
import { inputOf } from '../workflow/workflow.ts';
import { TestSluice } from './test-sluice.ts';

let isBroken = true;

const charge = defineTask({ type: 'charge', run: ({ n }: { n: number }) => ({ paid: n }) });
const ship = defineTask({
  type: 'ship',
  run: ({ paid }: { paid: number }) => {
    if (isBroken) throw new PermanentFailure('no truck');
    return { shipped: paid };
  },
});

const order = defineWorkflow('order', { version: 1, input: inputOf<{ n: number }>() }, (w) => {
  const charged = w.step('charge', charge, { n: w.input.n });
  return w.step('ship', ship, { paid: charged.output.paid });
});

test('a run that failed goes on, from the step that failed or from another one', async () => {
  const sluice = new TestSluice([charge, ship]);
  const run = await sluice.start(order, { n: 5 });
  await expect(run.result()).rejects.toThrow('no truck');
  isBroken = false;

  expect(await run.retry()).toMatchObject({ status: 'running' });
  expect(await run.result()).toEqual({ shipped: 5 });
  await run.rerun('charge', { n: 9 });
  expect(await run.result()).toEqual({ shipped: 9 });
  await sluice.runs.restart(run);
  expect(await run.result()).toEqual({ shipped: 5 });
});

test('a step that failed is skipped or completed by hand', async () => {
  isBroken = true;
  const sluice = new TestSluice([charge, ship]);
  const run = await sluice.start(order, { n: 5 });
  await expect(run.result()).rejects.toThrow('no truck');
  await run.complete('ship', { shipped: 1 });
  expect(await run.result()).toEqual({ shipped: 1 });

  const other = await sluice.start(order, { n: 6 });
  await expect(other.result()).rejects.toThrow('no truck');
  expect(await other.skip('ship')).toMatchObject({ status: 'succeeded', output: null });
});

test('what cannot go on says why, as a server does', async () => {
  isBroken = false;
  const sluice = new TestSluice([charge, ship]);
  const run = await sluice.start(order, { n: 5 });
  await run.result();

  await expect(run.retry()).rejects.toMatchObject({ code: 'run_finished', status: 409 });
  await expect(run.rerun('none')).rejects.toMatchObject({ code: 'step_not_found', status: 404 });
  await expect(sluice.runs.retry('r_nothing')).rejects.toMatchObject({ code: 'run_not_found' });
});
