import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccessKey } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULTS } from '../assembly/server-options.ts';
import { errorAnswers, installErrorAnswers } from '../http/error-answer.ts';
import { HOP_HEADER, type Hop, writeHop } from '../http/hop.ts';
import { RequestGuard } from '../http/request-guard.ts';
import { SECRET, textOf } from '../testing/forwarding-servers.ts';
import { AccessGuard, guardRoutes } from './access-guard.ts';
import { Authenticator } from './authenticator.ts';
import { authorOf } from './caller.ts';
import { makeKey, type NewKey } from './key-text.ts';
import { loginRoutes } from './login.route.ts';

/** The client's request, as the forwarding server got it. */
const HOP: Hop = {
  runId: 'run-b',
  at: 5_000_000,
  address: '192.0.2.1',
  isEncrypted: true,
  host: 'sluice.example:7421',
  origin: 'https://sluice.example:7421',
  site: 'same-origin',
};

let app: FastifyInstance;
let key: NewKey;
let blocked: object[];

beforeEach(async () => {
  key = makeKey(HOP.at);
  blocked = [];
  const role = { role: 'admin', namespace: 'default', expiresAt: 0 };
  const keys = new Map([[key.id, { ...role, id: key.id, hash: key.hash } as AccessKey]]);
  const state = { accessKeys: keys as never };
  const onBlocked = (who: object) => blocked.push(who);
  const authenticator = new Authenticator({ state, clock: () => HOP.at, onBlocked });
  app = Fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  installErrorAnswers(app, errorAnswers({ newRequestId: () => 'q_1', refused: () => undefined }));
  const trust = { secret: SECRET, clock: () => HOP.at };
  const guard = new RequestGuard(['owner.example'], DEFAULTS.http, trust);
  app.addHook('onRequest', (request, _reply, done) => {
    guard.check(request.raw);
    done();
  });
  const engine = { read: async () => undefined } as unknown as Engine;
  guardRoutes(app, new AccessGuard(authenticator, engine));
  loginRoutes(app, authenticator, state);
  app.route({
    method: 'GET',
    url: '/author',
    config: { access: 'self' },
    handler: async (request) => authorOf(request, 'x').address,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => app.close());

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface Received {
  readonly status: number | undefined;
  readonly cookie: string | undefined;
  readonly text: string;
}

/** A request of a forwarding server, whose own address is 127.0.0.1. */
async function send(hop: string, target: string, { headers, body }: Sent = {}): Promise<Received> {
  const [method, path] = target.split(' ');
  const { port } = app.server.address() as AddressInfo;
  const all = { host: '10.0.0.7:7420', [HOP_HEADER]: hop, ...headers };
  const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: all }).end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const cookie = answer.headers['set-cookie']?.join();
  return { status: answer.statusCode, cookie, text: await textOf(answer) };
}

function hopWith(changes: Partial<Hop>, secret: Uint8Array = SECRET): string {
  return writeHop({ ...HOP, ...changes }, secret);
}

test("a login gets a cookie for the client's port and connection", async () => {
  const body = JSON.stringify({ key: key.text });

  const encrypted = await send(hopWith({}), 'POST /v1/login', { body });
  const plain = hopWith({ isEncrypted: false, origin: 'http://sluice.example:7421' });
  const unencrypted = await send(plain, 'POST /v1/login', { body });

  expect(encrypted.cookie).toMatch(/^sluice-key-7421=slk_.*; Secure$/);
  expect(unencrypted.cookie).toMatch(/^sluice-key-7421=.*SameSite=Strict$/);
});

test('the cookie counts for pages of the forwarding server only', async () => {
  const headers = { cookie: `sluice-key-7421=${key.text}` };
  const statusOf = async (hop: Partial<Hop>) =>
    (await send(hopWith(hop), 'GET /v1/login', { headers })).status;

  expect(await statusOf({})).toBe(200);
  expect(await statusOf({ site: 'none' })).toBe(200);
  expect(await statusOf({ site: 'same-site' })).toBe(401);
  expect(await statusOf({ host: 'sluice.example:7422' })).toBe(401);
});

test("failures and audit records have the client's address", async () => {
  const wrong = { headers: { authorization: 'Bearer slk_wrong' } };
  const right = { headers: { authorization: `Bearer ${key.text}` } };
  for (let i = 0; i < 20; i += 1) await send(hopWith({}), 'GET /author', wrong);

  expect(blocked).toEqual([{ address: '192.0.2.1' }]);
  expect((await send(hopWith({}), 'GET /author', wrong)).status).toBe(429);
  const other = hopWith({ address: '192.0.2.2' });
  expect((await send(other, 'GET /author', wrong)).status).toBe(401);
  expect((await send(other, 'GET /author', right)).text).toBe('192.0.2.2');
});

test.each([
  ['forged', hopWith({}, Buffer.from('another secret'))],
  ['stale', hopWith({ at: HOP.at - 60_001 })],
])('a %s hop is worth nothing (hop.trust)', async (_, hop) => {
  const headers = { authorization: `Bearer ${key.text}` };

  const foreign = await send(hop, 'GET /author', { headers });
  const own = await send(hop, 'GET /author', { headers: { ...headers, host: 'owner.example' } });

  expect(JSON.parse(foreign.text).error.code).toBe('forbidden_origin');
  expect(own.text).toBe('127.0.0.1');
});
