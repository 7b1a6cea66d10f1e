import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { AddressGuard } from './address-guard.ts';
import { CallbackSender } from './callback-sender.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];
const NOW = Date.parse('2030-01-01T00:00:00.500Z');

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('answers', () => {
  test('a receiver gets the message, and 2xx means that it has it', async () => {
    const { url, requests } = await receiver((_, response) => response.writeHead(204).end());

    const outcome = await sender().send(message(`${url}/hook?x=1`));

    expect(outcome).toEqual({ status: 204 });
    expect(requests).toMatchObject([{ method: 'POST', path: '/hook?x=1', body: '{"a":"ü"}' }]);
    expect(requests[0].headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '10',
      'webhook-id': 'c_1',
      'webhook-timestamp': String(Math.floor(NOW / 1000)),
      'user-agent': 'Sluice/1.2',
      host: new URL(url).host,
    });
    expect(requests[0].headers).not.toHaveProperty('webhook-signature');
  });

  test.each([
    [400, 'answered_with_error'],
    [500, 'answered_with_error'],
    [404, 'answered_with_error'],
    [410, 'gone'],
    [304, 'redirected'],
  ])('%i is a failure: %s', async (status, failure) => {
    const { url } = await receiver((_, response) => response.writeHead(status).end());

    expect(await sender().send(message(url))).toEqual({ status, failure });
  });

  test.each([
    ['120', 120_000],
    ['Tue, 01 Jan 2030 00:00:10 GMT', 9500],
    ['Tue, 01 Jan 2019 00:00:00 GMT', 0],
  ])('a receiver that wants to be left alone until %s is heard', async (text, retryAfterMs) => {
    const { url } = await receiver((_, response) => {
      response.writeHead(503, { 'retry-after': text }).end();
    });

    expect(await sender().send(message(url))).toMatchObject({ status: 503, retryAfterMs });
  });

  test('a Retry-After that means nothing is passed over', async () => {
    const { url } = await receiver((_, response) => {
      response.writeHead(503, { 'retry-after': 'soon' }).end();
    });

    expect(await sender().send(message(url))).not.toHaveProperty('retryAfterMs');
  });

  test('a redirect is not followed', async () => {
    const trap = await receiver((_, response) => response.writeHead(200).end());
    const { url } = await receiver((_, response) => {
      response.writeHead(307, { location: trap.url }).end();
    });

    expect(await sender().send(message(url))).toEqual({ status: 307, failure: 'redirected' });
    expect(trap.requests).toEqual([]);
  });

  test('an answer without end is cut, and its status counts', async () => {
    let isCut = false;
    const { url } = await receiver((_, response) => {
      response.writeHead(200);
      const write = (): void => {
        while (response.write(Buffer.alloc(16_384)));
      };
      response.on('drain', write);
      response.on('close', () => {
        isCut = true;
      });
      write();
    });

    expect(await sender().send(message(url))).toEqual({ status: 200 });
    await expect.poll(() => isCut).toBe(true);
  });

  test('an answer that stops in the middle is cut in time, and its status counts', async () => {
    const { url } = await receiver((_, response) => response.writeHead(200).write('so'));

    expect(await sender({ timeoutMs: 200 }).send(message(url))).toEqual({ status: 200 });
  });
});

describe('failures', () => {
  test('a receiver that does not answer is given up in time', async () => {
    const { url } = await receiver(() => undefined);

    const outcome = await sender({ timeoutMs: 50 }).send(message(url));

    expect(outcome).toEqual({ status: 0, failure: 'timed_out' });
  });

  test('a name server that does not answer takes no longer', async () => {
    const resolve = () => new Promise<never>(() => undefined);

    const outcome = await sender({ timeoutMs: 50, resolve }).send(message('http://slow.example/'));

    expect(outcome).toEqual({ status: 0, failure: 'timed_out' });
  });

  test('nobody listens', async () => {
    const { url, server } = await receiver(() => undefined);
    await new Promise((resolve) => server.close(resolve));

    expect(await sender().send(message(url))).toEqual({ status: 0, failure: 'not_connected' });
  });

  test('the connection is cut before there is an answer', async () => {
    const url = await tcp((socket) => socket.once('data', () => socket.destroy()));

    expect(await sender().send(message(url))).toEqual({ status: 0, failure: 'connection_lost' });
  });

  test.each([
    'nonsense\r\n\r\n',
    'HTTP/1.1 abc\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(99_999)}`,
  ])('an answer that is no HTTP', async (text) => {
    const url = await tcp((socket) => socket.once('data', () => socket.end(text)));

    expect(await sender().send(message(url))).toEqual({ status: 0, failure: 'answer_not_http' });
  });

  test('TLS is spoken to somebody who does not', async () => {
    const { url } = await receiver((_, response) => response.end());

    const outcome = await sender().send(message(url.replace('http:', 'https:')));

    expect(outcome).toEqual({ status: 0, failure: 'tls_failed' });
  });

  test('a name that leads nowhere', async () => {
    const outcome = await sender({ resolve: async () => [] }).send(message('http://no.example/'));

    expect(outcome).toEqual({ status: 0, failure: 'name_not_resolved' });
  });

  test('what is under way is cut when the server stops', async () => {
    const { url, requests } = await receiver(() => undefined);
    const stopping = sender();
    const sent = stopping.send(message(url));
    await expect.poll(() => requests.length).toBe(1);

    stopping.stop();

    expect(await sent).toMatchObject({ status: 0 });
  });
});

describe('where it goes', () => {
  test('an address that is not allowed is not connected to', async () => {
    const { url, requests } = await receiver((_, response) => response.end());

    const outcome = await sender({ guard: new AddressGuard([]) }).send(message(url));

    expect(outcome).toEqual({ status: 0, failure: 'address_not_allowed' });
    expect(requests).toEqual([]);
  });

  test('a name that leads elsewhere at the second look is connected to where it led', async () => {
    const trap = await receiver((_, response) => response.end());
    const { port } = new URL(trap.url);
    const good = await receiver((_, response) => response.end(), '127.0.0.2', Number(port));
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    const options = {
      guard: new AddressGuard(['127.0.0.2']),
      resolve: async () => answers.shift() ?? ['127.0.0.1'],
    };

    const first = await sender(options).send(message(`http://rebinds.example:${port}/`));
    const second = await sender(options).send(message(`http://rebinds.example:${port}/`));

    expect(first).toEqual({ status: 200 });
    expect(good.requests[0].headers.host).toBe(`rebinds.example:${port}`);
    expect(second).toEqual({ status: 0, failure: 'address_not_allowed' });
    expect(trap.requests).toEqual([]);
  });

  test('no connection is used twice', async () => {
    const { url, requests } = await receiver((_, response) => response.end());
    const one = sender();

    await one.send(message(url));
    await one.send(message(url));

    expect(new Set(requests.map(({ remotePort }) => remotePort)).size).toBe(2);
  });
});

describe('signatures', () => {
  const OWN = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const SHARED = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;

  test.each([
    ['its own secret', OWN, ''],
    ['its own secret although there is one for all', OWN, SHARED],
    ['the one for all', undefined, SHARED],
  ])('a callback is signed with %s', async (_, own, shared) => {
    const { url, requests } = await receiver((_request, response) => response.end());

    await sender({ secret: shared }).send({ ...message(url), secret: own });
    await sender({ secret: own ?? shared }).send(message(url));

    const [found, expected] = requests.map(({ headers }) => headers['webhook-signature']);
    expect(found).toMatch(/^v1,/);
    expect(found).toBe(expected);
  });
});

function message(url: string) {
  return { url, secret: undefined, id: 'c_1', body: '{"a":"ü"}' };
}

function sender(given: Partial<ConstructorParameters<typeof CallbackSender>[0]> = {}) {
  return new CallbackSender({
    guard: new AddressGuard(LOOPBACK),
    resolve: async () => ['127.0.0.1'],
    version: '1.2',
    secret: '',
    clock: () => NOW,
    ...given,
  });
}

type Seen = Pick<IncomingMessage, 'method' | 'headers'> & {
  readonly path: string | undefined;
  readonly body: string;
  readonly remotePort: number | undefined;
};

async function receiver(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
  host = '127.0.0.1',
  port = 0,
) {
  const requests: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    const { remotePort } = request.socket;
    const body = Buffer.concat(await request.toArray()).toString();
    requests.push({ method, path, headers, body, remotePort });
    answer(request, response);
  });
  return { url: `http://${host}:${await listen(server, host, port)}`, requests, server };
}

async function tcp(serve: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    // The client may disconnect before everything was sent.
    socket.on('error', () => undefined);
    serve(socket);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  servers.push(server);
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
