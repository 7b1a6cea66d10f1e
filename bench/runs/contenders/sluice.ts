import { defineTask, Sluice } from '@sluice/sdk';
import { startSluice } from '../../peers/stores/sluice.ts';
import { INPUT, type RunContender, SHAPES, type Shape, step } from '../contender.ts';

export const TYPE = 'step';
const SLOTS = 1000;
const WAIT_MS = 60_000;

/** Each step is a task that a worker of the SDK runs. */
export const sluice: RunContender = {
  durability: 'its log, fsync before each answer and push',
  open: async () => {
    const store = await startSluice();
    const client = new Sluice({ url: store.address });
    const task = defineTask({ type: TYPE, run: step });
    const worker = await client.work([task], { slots: SLOTS });
    for (const shape of SHAPES) await client.workflows.put(definition(shape));
    return {
      run: async ({ name }) => (await client.start(name, INPUT)).result({ timeoutMs: WAIT_MS }),
      close: async () => {
        await worker.stop();
        await store.stop();
      },
    };
  },
};

export function definition({ name, steps, isFork }: Shape) {
  const inputParameters = { n: '${workflow.input.n}' };
  const all = Array.from({ length: steps }, (_, n) => {
    return { name: TYPE, taskReferenceName: `s${n}`, inputParameters };
  });
  const version = 1;
  if (!isFork) return { name, version, tasks: all };
  return {
    name,
    version,
    tasks: [
      { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks: all.map((each) => [each]) },
      { taskReferenceName: 'join', type: 'JOIN' },
    ],
  };
}
