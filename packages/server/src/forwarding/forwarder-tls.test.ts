import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { Cleanup, startForwarder } from '../testing/forwarding-servers.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function makeCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-forwarder-'));
  cleanup.add(() => rm(folder, { recursive: true }));
  const [certFile, keyFile] = ['crt', 'key'].map((end) => join(folder, `owner.${end}`));
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const names = ['-subj', '/CN=owner', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-nodes', '-days', '2', '-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', [...kind, ...names, ...files], { stdio: 'pipe' });
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

test('an owner with TLS gets requests only if its certificate is trusted', async () => {
  const certificate = await makeCertificate();
  let count = 0;
  const owner = createServer(certificate, (_request, response) => {
    count += 1;
    response.end('done');
  });
  owner.listen(0, 'localhost');
  await once(owner, 'listening');
  cleanup.add(async () => {
    owner.closeAllConnections();
    owner.close();
  });
  const { port } = owner.address() as AddressInfo;
  const place = { url: `https://localhost:${port}`, runId: 'run-a' };
  const { url } = await startForwarder(cleanup, () => place, { waitMsMax: 250 });
  const cancel = () => fetch(`${url}/v1/tasks/t_1/cancel`, { method: 'POST' });

  const untrusted = await cancel();
  const known = getCACertificates('default');
  cleanup.add(async () => setDefaultCACertificates(known));
  setDefaultCACertificates([...known, certificate.cert]);
  const trusted = [await cancel(), await cancel()];

  expect([untrusted.status, ((await untrusted.json()) as Body).error.code]).toEqual([
    503,
    'unavailable',
  ]);
  expect(await Promise.all(trusted.map((answer) => answer.text()))).toEqual(['done', 'done']);
  expect(count).toBe(2);
});

interface Body {
  readonly error: { readonly code: string };
}
