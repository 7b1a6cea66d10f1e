import { createServer as createHttp1, type RequestListener } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Session } from 'node:http2';
import { createServer as createTcp, type Server, type Socket } from 'node:net';

/**
 * What a client with prior knowledge of HTTP/2 sends first; no HTTP/1.1 method starts like this.
 */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0');

const CONCURRENT_STREAMS_MAX = 1000;
const WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * One port for HTTP/1.1 and for HTTP/2 in clear text: the first bytes of a connection decide.
 *
 * `close` ends idle connections and waits for the others, as Node's HTTP server does.
 */
export function createListener(handler: RequestListener): Server {
  const http1 = createHttp1({ keepAliveTimeout: 65_000, noDelay: true }, handler);
  const http2 = createHttp2(
    {
      settings: { maxConcurrentStreams: CONCURRENT_STREAMS_MAX, initialWindowSize: WINDOW_BYTES },
    },
    handler as never,
  );
  const sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    session.setLocalWindowSize(WINDOW_BYTES);
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });

  const tcp = createTcp({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('readable', () => route(socket));
  });
  const route = (socket: Socket): void => {
    const first = socket.read() as Buffer | null;
    if (first === null) return;
    socket.unshift(first);
    (isHttp2(first) ? http2 : http1).emit('connection', socket);
  };

  const close = tcp.close.bind(tcp);
  tcp.close = (done) => {
    http1.closeIdleConnections();
    for (const session of sessions) session.close();
    return close(done);
  };
  return tcp;
}

function isHttp2(first: Buffer): boolean {
  const length = Math.min(first.length, HTTP2_PREFACE.length);
  return HTTP2_PREFACE.compare(first, 0, length, 0, length) === 0;
}
