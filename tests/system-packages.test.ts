import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { missingPackages } from '../scripts/system-packages.ts';

test('a machine without programs needs all packages, one with some needs the others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-programs-'));
  const all = missingPackages([folder]);
  await writeFile(join(folder, 'cc'), '');
  await chmod(join(folder, 'cc'), 0o755);
  await writeFile(join(folder, 'curl'), '');

  const some = missingPackages(['/nowhere', folder]);

  await rm(folder, { recursive: true });
  const tools = ['git', 'curl', 'ca-certificates', 'python3', 'python3-pip', 'openssl'];
  const machine = ['mount', 'iproute2', 'chromium', 'prometheus'];
  const servers = [
    'docker.io',
    'docker-compose',
    'podman',
    'busybox-static',
    'ffmpeg',
    'systemd',
    'postgresql',
  ];
  const others = [...tools, ...machine, ...servers];
  expect(all).toEqual([...others, 'gcc', 'libc6-dev']);
  expect(some).toEqual(others);
});
