import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Session } from '../session/session.ts';
import { parseStoreAddress } from '../session/store-address.ts';

const STARTER = `
const { PostgresServer } = await import(process.argv[1]);
const server = await PostgresServer.start();
console.log(server.address);
setInterval(() => {}, 1000);`;

test('a server ends and its folder goes when the process that started it is killed', async () => {
  const module = new URL('./postgres-server.ts', import.meta.url).href;
  const args = ['--input-type=module', '-e', STARTER, module];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const address = parseStoreAddress(String(line).trim());
  const session = await Session.open(address, 'test');
  const { rows } = await session.query<{ folder: string }>(
    `SELECT current_setting('data_directory') AS folder`,
  );
  const folder = dirname(rows[0].folder);
  expect(existsSync(folder)).toBe(true);

  child.kill('SIGKILL');

  await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 30_000 });
  await expect(Session.open(address, 'test')).rejects.toThrow('no connection');
});
