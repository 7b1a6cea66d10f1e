import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HttpAnswer, HttpRequest } from '../base/ports.ts';
import { FetchTransport } from '../browser/fetch-transport.ts';
import { NodeTransport } from '../node/node-transport.ts';
import type { Transport } from './platform.ts';

const GET: HttpRequest = { address: 0, method: 'GET', path: '/x' };
const headers = { authorization: 'Bearer slk_1' };

let server: Server;
let url: string;
let reply: (request: IncomingMessage, response: ServerResponse) => void;
/** Number of connections opened. */
let connections = 0;

beforeEach(async () => {
  connections = 0;
  server = createServer((request, response) => reply(request, response));
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function send(transport: Transport, request: HttpRequest): Promise<HttpAnswer | undefined> {
  return new Promise((resolve) => {
    transport.send(request, resolve);
  });
}

/** Collects the text of a stream until it ends. */
function stream(transport: Transport, request: HttpRequest) {
  let text = '';
  let cancel = (): void => undefined;
  const ended = new Promise<{ text: string; refusal: HttpAnswer | undefined }>((resolve) => {
    cancel = transport.openStream(request, {
      bytes: (chunk) => {
        text += new TextDecoder().decode(chunk);
      },
      ended: (refusal) => resolve({ text, refusal }),
    });
  });
  return { ended, cancel };
}

describe.each([
  ['node:http', NodeTransport],
  ['fetch', FetchTransport],
])('over %s', (_, Chosen) => {
  let transport: Transport;

  beforeEach(() => {
    transport = new Chosen({ addresses: [`${url}/prefix`, url], headers });
  });

  afterEach(() => transport.close());

  test('a request goes to its address with body and key, and the answer comes back', async () => {
    let seen: unknown;
    reply = async (request, response) => {
      const { method, url: path } = request;
      seen = { method, path, key: request.headers.authorization, body: await bodyOf(request) };
      response.writeHead(429, { 'retry-after': '7' }).end('{"text":"Ä €"}');
    };

    const body = JSON.stringify({ text: 'Ädä €' });
    const answer = await send(transport, { address: 0, method: 'PUT', path: '/v1/x?a=b', body });

    expect(seen).toEqual({ method: 'PUT', path: '/prefix/v1/x?a=b', key: 'Bearer slk_1', body });
    expect(answer).toEqual({ status: 429, text: '{"text":"Ä €"}', retryAfter: '7' });
  });

  test('an answer that is cut off is none (L10)', async () => {
    reply = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"id":', () => response.destroy());
    };
    expect(await send(transport, GET)).toBeUndefined();

    reply = (_request, response) => {
      response.write('{"id": 1}', () => response.destroy());
    };
    expect(await send(transport, GET)).toBeUndefined();
  });

  test('a connection that is refused or closed is no answer', async () => {
    reply = (request) => request.socket.destroy();
    expect(await send(transport, GET)).toBeUndefined();

    const nowhere = new Chosen({ addresses: ['http://127.0.0.1:1'], headers });
    expect(await send(nowhere, GET)).toBeUndefined();
  });

  test('a connection is used again', async () => {
    reply = (_request, response) => response.end('{}');

    for (let n = 0; n < 9; n++) await send(transport, { ...GET, address: 1 });

    // The next request may miss a connection that is just being returned to the pool.
    expect(connections).toBeLessThan(9);
  });

  test('a request that was taken back says nothing, and the server sees it go', async () => {
    const gone = new Promise<void>((resolve) => {
      reply = (request, response) => {
        response.once('close', resolve);
        request.resume();
        cancel();
      };
    });
    const answers: unknown[] = [];
    const cancel = transport.send(GET, (answer) => answers.push(answer));

    await gone;
    reply = (_request, response) => response.end('{}');
    await send(transport, GET);

    expect(answers).toEqual([]);
  });

  test('a stream brings what it brings, and ends', async () => {
    reply = (_request, response) => {
      response.write('one ');
      response.end('two');
    };

    const { text, refusal } = await stream(transport, GET).ended;

    expect({ text, refusal }).toEqual({ text: 'one two', refusal: undefined });
  });

  test('a stream that breaks ends once', async () => {
    reply = (_request, response) => {
      response.write('one', () => response.destroy());
    };

    expect(await stream(transport, GET).ended).toEqual({ text: 'one', refusal: undefined });
  });

  test('a stream that is refused says why', async () => {
    reply = (_request, response) => response.writeHead(401).end('{"error":{}}');

    const { refusal } = await stream(transport, GET).ended;

    expect(refusal).toEqual({ status: 401, text: '{"error":{}}' });
  });

  test('a stream that is closed here is gone there', async () => {
    const gone = new Promise<void>((resolve) => {
      reply = (_request, response) => {
        response.once('close', resolve);
        response.write('one');
        opened.cancel();
      };
    });
    const opened = stream(transport, GET);

    await gone;
  });
});
