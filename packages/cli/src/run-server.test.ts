import { expect, test } from 'vitest';
import { serverHelp } from './run-server.ts';
import { server } from './server.command.ts';

test('the help that is kept is the one that the settings make', async () => {
  await expect(`${serverHelp()}\n`).toMatchFileSnapshot('server-help.txt');
});

test('completion knows the flags from it', () => {
  expect(server.flags).toEqual(expect.arrayContaining(['config', 'port', 'http-headers-max']));
});
