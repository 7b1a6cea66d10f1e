import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GpuShares, gpuVariables, readGpus } from './gpu-shares.ts';

test('two tasks never have one GPU, unless it has shares', () => {
  const whole = new GpuShares(['0', '1']);
  expect(whole.offered).toBe(2);
  expect(whole.take(1)).toEqual(['0']);
  expect(whole.take(1)).toEqual(['1']);
  expect(whole.take(1)).toBeUndefined();
  whole.giveBack(['0']);
  expect(whole.take(2)).toBeUndefined();
  expect(whole.take(1)).toEqual(['0']);

  const shared = new GpuShares(['0'], 2);
  expect(shared.offered).toBe(2);
  expect(shared.take(1)).toEqual(['0']);
  expect(shared.take(1)).toEqual(['0']);
  expect(shared.take(1)).toBeUndefined();
});

test('a task gets different GPUs, those that are used least', () => {
  const gpus = new GpuShares(['0', '1', '2'], 2);
  gpus.hold(['0']);

  expect(gpus.take(2)).toEqual(['1', '2']);
});

test('no GPU has more tasks than shares, whatever comes and goes (gpus.no-overbooking)', () => {
  const step = fc.record({ isTake: fc.boolean(), count: fc.integer({ min: 0, max: 3 }) });
  const bounds = { min: 1, max: 3 };
  fc.assert(
    fc.property(fc.integer(bounds), fc.integer(bounds), fc.array(step), (count, shares, steps) => {
      const names = Array.from({ length: count }, (_, index) => String(index));
      const gpus = new GpuShares(names, shares);
      const held: string[][] = [];
      for (const { isTake, count: wanted } of steps) {
        const free = gpus.offered - held.flat().length;
        const taken = isTake ? gpus.take(wanted) : undefined;
        if (isTake) expect(taken === undefined).toBe(wanted > free);
        if (taken !== undefined) held.push(taken);
        else if (!isTake) gpus.giveBack(held.shift() ?? []);
        for (const name of names) {
          const uses = held.flat().filter((each) => each === name).length;
          expect(uses).toBeLessThanOrEqual(shares);
        }
      }
    }),
  );
});

test('a program finds its GPUs by variables, and one without finds none', () => {
  expect(gpuVariables([], false)).toEqual({});
  expect(gpuVariables(['1', '1', '3'], true)).toEqual({
    NVIDIA_VISIBLE_DEVICES: '1,3',
    CUDA_VISIBLE_DEVICES: '1,3',
  });
  expect(gpuVariables([], true)).toEqual({
    NVIDIA_VISIBLE_DEVICES: 'void',
    CUDA_VISIBLE_DEVICES: '',
  });
});

test('the output of nvidia-smi is read', () => {
  expect(readGpus('0, NVIDIA A100 80GB\n1, NVIDIA A100 80GB\n')).toEqual({
    indexes: ['0', '1'],
    model: 'NVIDIA-A100-80GB',
  });
  expect(readGpus('0, Tesla T4\n3, NVIDIA L4')).toEqual({ indexes: ['0', '3'], model: undefined });
  expect(readGpus('No devices were found\n')).toEqual({ indexes: [], model: undefined });
});
