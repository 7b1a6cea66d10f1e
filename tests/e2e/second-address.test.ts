/**
 * The set-up of docs/keys.md, with its own commands, from an address that is not loopback. It runs
 * in a network namespace that has nothing but this address.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { runSluice } from '../support/sluice-command.ts';

const ROOT = join(import.meta.dirname, '../..');
const ADDRESS = '192.0.2.7';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-address-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** The commands of the page, with the paths of this test. */
async function documented(): Promise<{ create: string; serve: string; use: string }> {
  const page = await readFile(join(ROOT, 'docs/keys.md'), 'utf8');
  const section = page.split('## A server that other machines can reach')[1].split('\n## ')[0];
  const [first, second] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) =>
    text
      .replaceAll('/var/lib/sluice', join(folder, 'data'))
      .replaceAll(/server\.(crt|key)/g, join(folder, 'server.$1'))
      .replaceAll('slk_…', '"$KEY"')
      .trim(),
  );
  const [create, serve] = first.split('\n');
  return { create, serve, use: second };
}

test('the documented server is reached from another address, with its key and TLS', async () => {
  makeCertificate(folder, 'server', { addresses: [ADDRESS] });
  const { create, serve, use } = await documented();
  const curl = `curl --silent --cacert ${join(folder, 'server.crt')}`;
  const status = `${curl} --output /dev/null --write-out '%{http_code}\\n'`;
  const script = `
    ip link set lo up
    ip address add ${ADDRESS}/32 dev lo
    KEY=$(${create})
    ${serve} > ${join(folder, 'out')} 2>&1 &
    SERVER=$!
    trap 'kill $SERVER; wait $SERVER || true' EXIT
    until ${curl} --fail --output /dev/null https://${ADDRESS}:7420/health/ready; do
      kill -0 $SERVER
      sleep 0.1
    done
    ${status} --header 'Host: 10.1.2.3:7420' https://${ADDRESS}:7420/health/live
    ${status} https://${ADDRESS}:7420/v1/queues
    ${status} --header "Authorization: Bearer $KEY" https://${ADDRESS}:7420/metrics
    ${curl} --header 'Host: other.example' https://${ADDRESS}:7420/v1/queues
    echo
    ${use} 2>&1
  `;
  const env = { ...process.env, PATH: `${join(ROOT, 'packages/cli/bin')}:${process.env.PATH}` };
  const args = ['--net', 'bash', '-euc', script];
  const { stdout } = await promisify(execFile)('unshare', args, { env, cwd: folder });

  const [probe, withoutKey, metrics, otherName, ...queues] = stdout.trim().split('\n');
  expect([probe, withoutKey, metrics]).toEqual(['200', '401', '200']);
  expect(JSON.parse(otherName).error).toMatchObject({
    code: 'forbidden_origin',
    message: expect.stringContaining('start the server with --allowed-hosts other.example'),
  });
  expect(queues.join('\n')).toContain('no queues');
  expect(await readFile(join(folder, 'out'), 'utf8')).toContain('https://sluice.example:7420');
});

test('a server for every address that was given no names does not start', async () => {
  const { code, stderr } = await runSluice([
    'server',
    ...['--host', '0.0.0.0', '--insecure', '--data', join(folder, 'data')],
  ]);

  expect(code).toBe(2);
  expect(stderr).toMatch(/--host: host '0\.0\.0\.0' .* --allowed-hosts \S+/);
});
