import { execFileSync } from 'node:child_process';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { memoryLimit } from './memory-limit.ts';

const GIB = 2 ** 30;

test.each([
  ['a container that allows less', { total: 8 * GIB, constrained: GIB }, GIB],
  ['a container that allows all', { total: 8 * GIB, constrained: 2 ** 64 }, 8 * GIB],
  ['no container', { total: 8 * GIB, constrained: 0 }, 8 * GIB],
])('%s', (_name, figures, limit) => {
  expect(memoryLimit(figures)).toBe(limit);
});

/** A cgroup with a memory limit, or undefined where this process may not create one. */
function makeGroup(bytes: number): string | undefined {
  const kinds = [
    { parent: '/sys/fs/cgroup/memory', file: 'memory.limit_in_bytes' },
    { parent: '/sys/fs/cgroup', file: 'memory.max' },
  ];
  for (const { parent, file } of kinds) {
    const group = join(parent, `sluice-test-${process.pid}`);
    try {
      mkdirSync(group);
    } catch {
      // Missing, or not permitted: try the next kind.
      continue;
    }
    try {
      writeFileSync(join(group, file), String(bytes), { flag: 'r+' });
      return group;
    } catch {
      rmdirSync(group);
    }
  }
  return undefined;
}

const group = makeGroup(GIB);

afterAll(() => {
  if (group !== undefined) rmdirSync(group);
});

test.runIf(group !== undefined)('the bound of a real group of processes is seen', () => {
  const module = new URL('./memory-limit.ts', import.meta.url);
  const script = `import { memoryLimit } from '${module}'; console.log(memoryLimit());`;
  const inGroup = 'echo $$ > "$1"/cgroup.procs; shift; exec "$@"';
  const node = [process.execPath, '--input-type=module', '--eval', script];

  const args = ['-c', inGroup, 'sh', group as string, ...node];

  expect(Number(execFileSync('sh', args, { encoding: 'utf8' }))).toBe(GIB);
});
