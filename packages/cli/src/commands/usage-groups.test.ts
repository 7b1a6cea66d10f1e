import { expect, test } from 'vitest';
import type { Task } from '../api/answers.ts';
import { usageGroups } from './usage-groups.ts';

const MIB = 2 ** 20;

function measured(memoryMb: number, over: object = {}, error?: object): Task {
  const usage = { wallMs: 1000, cpuMs: 500, memoryPeakBytes: memoryMb * MIB };
  return {
    type: 'command',
    exec: { command: ['ffmpeg', '-i', 'a'] },
    resources: { cpu: 2, memoryMb: 1024 },
    attempts: [{ usage, ...(error === undefined ? {} : { error }) }],
    ...over,
  } as unknown as Task;
}

test('attempts are grouped by program and by what was reserved', () => {
  const groups = usageGroups([
    measured(10),
    measured(30),
    measured(20),
    measured(5, { resources: { cpu: 1 } }),
    measured(1, { exec: { command: ['sort'] } }),
    measured(1, { attempts: [{}] }),
  ]);

  expect(groups.map(({ what, attempts, reserved }) => [what, attempts, reserved.cpu])).toEqual([
    ['ffmpeg', 3, 2],
    ['ffmpeg', 1, 1],
    ['sort', 1, 2],
  ]);
  expect(groups[0].memoryMb).toEqual({ p50: 20, p95: 30, max: 30 });
  expect(groups[0].cores).toEqual({ p50: 0.5, p95: 0.5, max: 0.5 });
  expect(groups[1].reserved.memoryMb).toBeNull();
});

test('far too much reserved is worth an advice, which a few attempts are not', () => {
  const many = Array.from({ length: 20 }, (_, n) => measured(100 + n));

  expect(usageGroups(many)[0].advice).toBe('memory 160 MiB, cpu 0.7');
  expect(usageGroups(many.slice(1))[0].advice).toBeNull();
});

test('a reservation that fits has no advice', () => {
  const many = Array.from({ length: 20 }, () => measured(700, { resources: { memoryMb: 1024 } }));

  expect(usageGroups(many)[0].advice).toBeNull();
});

test('one attempt that ran out of memory is enough to say so', () => {
  const [group] = usageGroups([measured(1024, {}, { code: 'out_of_memory' }), measured(3)]);

  expect(group).toMatchObject({ attempts: 2, outOfMemory: 1 });
  expect(group.advice).toBe('more memory than 1024 MiB: 1 ran out of it');
});
