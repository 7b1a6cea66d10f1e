import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connect as connectTls,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls';
import { defineTask, Sluice, type WorkerNotice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CertificatePaths, makeCertificate } from '../support/certificates.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';

const PATIENCE_MS = 60_000;

let folder: string;
let server: ServerProcess | undefined;
/** The certificate that the server is configured to use; tests overwrite it with others. */
let used: CertificatePaths;
let first: CertificatePaths;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'));
  first = makeCertificate(folder, 'first');
  used = { certFile: join(folder, 'used.crt'), keyFile: join(folder, 'used.key') };
  await use(first);
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await rm(folder, { recursive: true });
});

async function use({ certFile, keyFile }: CertificatePaths): Promise<void> {
  await copyFile(certFile, used.certFile);
  await copyFile(keyFile, used.keyFile);
}

function flags(): string[] {
  return ['--tls-cert-file', used.certFile, '--tls-key-file', used.keyFile];
}

async function start(): Promise<ServerProcess> {
  server = await ServerProcess.startServer(join(folder, 'data'), ...flags());
  return server;
}

interface Seen {
  readonly status: number;
  readonly body: string;
}

/** One request over HTTP/1.1 by a client that trusts only this certificate. */
async function get(path: string, { certFile }: CertificatePaths, agent?: Agent): Promise<Seen> {
  const ca = await readFile(certFile);
  return new Promise((resolve, reject) => {
    const asked = request(`${server?.url}${path}`, { ca, agent: agent ?? false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

async function codeOf(answer: Promise<unknown>): Promise<string | undefined> {
  return answer.then(
    () => 'answered',
    (cause: NodeJS.ErrnoException) => cause.code,
  );
}

function handshake(options: object): Promise<TLSSocket> {
  const port = Number(new URL(server?.url ?? '').port);
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, ...options }, () => resolve(socket));
    socket.on('error', reject);
  });
}

test('both versions of HTTP are spoken within TLS, and nothing without it', async () => {
  const { url } = await start();
  const ca = await readFile(first.certFile);
  const http2 = connectHttp2(url, { ca });
  const overHttp2 = await new Promise<number>((resolve, reject) => {
    http2.on('error', reject);
    const stream = http2.request({ ':path': '/health/ready' });
    stream.on('response', (headers) => resolve(headers[':status'] ?? 0));
    stream.end();
  });
  http2.close();
  const port = Number(new URL(url).port);
  const inTheClear = await new Promise<string>((resolve) => {
    let heard = '';
    const socket = connectTcp(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n\r\n'));
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard += text;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(heard));
  });

  expect(url).toMatch(/^https:/);
  expect((await get('/health/ready', first)).status).toBe(200);
  expect(overHttp2).toBe(200);
  expect(inTheClear).not.toContain('HTTP');
});

test('old versions of TLS are refused, and so is who trusts somebody else', async () => {
  await start();
  const other = makeCertificate(folder, 'other');

  const versions = { minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
  const anybody = { rejectUnauthorized: false, ...versions };
  const old = await codeOf(handshake({ ...anybody, maxVersion: 'TLSv1.1' }));
  const young = await handshake({ ...anybody, maxVersion: 'TLSv1.2' });

  expect(old).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  expect(young.getProtocol()).toBe('TLSv1.2');
  young.destroy();
  expect(await codeOf(get('/health/ready', other))).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('a hang-up brings the new certificate to new connections; old ones go on', async () => {
  const process = await start();
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  await get('/health/ready', first, kept);
  const second = makeCertificate(folder, 'second');

  await use(second);
  process.signal('SIGHUP');
  await process.printed(/new connections get the new certificate/);

  expect((await get('/health/ready', first, kept)).status).toBe(200);
  expect(await codeOf(get('/health/ready', first))).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  expect((await get('/health/ready', second)).status).toBe(200);
  kept.destroy();
});

test('a certificate that ends soon is worth a warning, another one is not', async () => {
  const process = await start();
  await process.printed(/the certificate ends soon/);
  await process.kill();

  await use(makeCertificate(folder, 'lasting', { days: 60 }));
  const other = await start();
  other.signal('SIGTERM');
  await other.exited();

  expect(other.lastOutput).not.toContain('the certificate ends soon');
});

test('files that changed are found without a signal', async () => {
  await start();
  const second = makeCertificate(folder, 'second');

  await use(second);

  const isRenewed = async () => (await codeOf(get('/health/ready', second))) === 'answered';
  await waitUntil(isRenewed, { what: 'the certificate is renewed', timeoutMs: PATIENCE_MS });
});

test('while the files do not belong together the old certificate stays', async () => {
  const process = await start();
  const second = makeCertificate(folder, 'second');

  await copyFile(second.certFile, used.certFile);
  process.signal('SIGHUP');
  await process.printed(/the certificate cannot be renewed; the old one stays/);
  const between = await get('/health/ready', first);
  await rm(used.keyFile);
  process.signal('SIGHUP');
  await process.printed(/tls.keyFile cannot be read/);
  await copyFile(second.keyFile, used.keyFile);
  process.signal('SIGHUP');
  await process.printed(/new connections get the new certificate/);

  expect(between.status).toBe(200);
  expect((await get('/health/ready', second)).status).toBe(200);
  expect(process.lastOutput).not.toContain('PRIVATE KEY');
});

test.each([
  ['a certificate that is none', async () => writeFile(used.certFile, 'nothing')],
  ['a file that is missing', async () => rm(used.keyFile)],
  [
    'the key of another one',
    async () => copyFile(makeCertificate(folder, 'x').keyFile, used.keyFile),
  ],
])('%s is no reason to start without', async (_, spoil) => {
  await spoil();

  const data = join(folder, 'data');
  const ended = await runSluice(['server', '--port', '0', '--data', data, ...flags()]);

  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/tls\.(certFile|keyFile)/);
});

test('with keys and TLS a server starts that others can reach', async () => {
  const data = join(folder, 'data');
  const { stdout } = await runSluice(['key', 'create', '--role', 'admin', '--data', data]);
  const reachable = ['--host', '0.0.0.0', '--allowed-hosts', '127.0.0.1'];
  server = await ServerProcess.startServer(data, ...reachable, ...flags());

  expect(stdout).toMatch(/^slk_/);
  expect((await get('/health/ready', first)).status).toBe(200);
  expect((await get('/v1/tasks', first)).status).toBe(401);
});

test('a connection that never shakes hands holds up neither others nor the end', async () => {
  const process = await start();
  const { port } = new URL(process.url);
  const silent = connectTcp(Number(port), '127.0.0.1');
  silent.on('error', () => undefined);
  await new Promise((resolve) => silent.once('connect', resolve));

  expect((await get('/health/ready', first)).status).toBe(200);
  process.signal('SIGTERM');

  expect(await process.exited()).toBe(0);
  silent.destroy();
});

test('the command line reaches it by https, with a key', async () => {
  const process = await start();
  const env = { SLUICE_URL: process.url, NODE_EXTRA_CA_CERTS: first.certFile };
  const made = await runSluice(['key', 'create', '--role', 'admin'], env);

  const listed = await runSluice(['key', 'list'], { ...env, SLUICE_API_KEY: made.stdout.trim() });

  expect(made.code).toBe(0);
  expect(listed.stdout).toContain('admin');
});

test('a certificate that is not trusted is named at once, with the way to trust it', async () => {
  const { url } = await start();
  const problem = /is signed by itself \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/;

  const listed = await runSluice(['task', 'list'], { SLUICE_URL: url });
  const sluice = new Sluice({ url });
  const notices: WorkerNotice[] = [];
  const hello = defineTask({ type: 'hello', run: (name: string) => name });
  const working = sluice.work([hello], {
    handleSignals: false,
    onNotice: (notice) => notices.push(notice),
  });
  const calls = [
    sluice.submit('hello', 'Ada'),
    sluice.task('t_1').get(),
    sluice.task('t_1').result(),
    sluice.keys.create({ role: 'admin' }),
    sluice.events().opened,
  ];
  const errors = await Promise.all(calls.map((call) => call.catch((cause: unknown) => cause)));
  await waitUntil(() => notices.length > 0, { what: 'a notice', timeoutMs: PATIENCE_MS });

  expect(listed.code).toBe(3);
  expect(listed.stderr).toMatch(problem);
  expect(listed.stderr).not.toContain('sluice dev');
  for (const error of errors) {
    expect(error).toMatchObject({
      code: 'untrusted_certificate',
      message: expect.stringMatching(problem),
    });
  }
  expect(notices[0]).toMatchObject({ type: 'disconnected', why: expect.stringMatching(problem) });
  await Promise.all([sluice.close(), working.catch(() => undefined)]);
});

test('an address with https that has no TLS is said to be so', async () => {
  server = await ServerProcess.startDev(join(folder, 'data'));
  const url = server.url.replace('http:', 'https:');
  const sluice = new Sluice({ url, giveUpAfterMs: 500 });

  const listed = await runSluice(['task', 'list'], { SLUICE_URL: url });
  const submitted = sluice.submit('hello', 1);

  await expect(submitted).rejects.toThrow('there is no TLS at this port; use an http address');
  expect(listed.stderr).toContain('there is no TLS at this port; use an http address');
  await sluice.close();
});

test.each([
  ['a call that reads', ['task', 'list']],
  ['a call that is sent once', ['key', 'create', '--role', 'admin']],
])('%s without TLS to a port with TLS: the message names https://', async (_, command) => {
  const { url } = await start();
  const plain = url.replace('https:', 'http:');

  const { code, stderr } = await runSluice([...command, '--url', plain]);

  expect(code).toBe(3);
  expect(stderr).toContain(plain);
  expect(stderr).toContain('if it speaks TLS, its address begins with https://');
});

test('a worker and a client of the SDK go on while the certificate changes', async () => {
  const process = await start();
  const second = makeCertificate(folder, 'second');
  const trusted = await Promise.all(
    [first, second].map(({ certFile }) => readFile(certFile, 'utf8')),
  );
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, ...trusted]);
  const sluice = new Sluice({ url: process.url });
  const hello = defineTask({ type: 'hello', run: (name: string) => `Hello, ${name}` });
  await sluice.work([hello], { handleSignals: false });

  const one = await (await sluice.submit(hello, 'Ada')).result();
  await use(second);
  process.signal('SIGHUP');
  await process.printed(/new connections get the new certificate/);
  const other = await (await sluice.submit(hello, 'Bob')).result();

  expect([one, other]).toEqual(['Hello, Ada', 'Hello, Bob']);
  await sluice.close();
  setDefaultCACertificates(before);
});
