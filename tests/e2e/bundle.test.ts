import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { buildBundle } from '../../scripts/build-bundle.ts';
import { LAUNCHER } from '../support/sluice-command.ts';

beforeAll(() => buildBundle());

test('the command runs the bundle after it was built', () => {
  const env = { ...process.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };

  const { stderr, stdout } = spawnSync(LAUNCHER, ['--version'], { encoding: 'utf8', env });

  expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(stderr).toMatch(/cli\/dist\/[a-d]\/part-cli\.js/);
  expect(stderr).not.toContain('cli/src/cli.ts');
});
