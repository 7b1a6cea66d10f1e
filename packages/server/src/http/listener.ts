import { createServer as createHttp1, type RequestListener } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Session } from 'node:http2';
import { createServer as createTcp, type Server, type Socket } from 'node:net';

/**
 * What a client with prior knowledge of HTTP/2 sends first; no HTTP/1.1 method starts like this.
 */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0');

const CONCURRENT_STREAMS_MAX = 1000;
const WINDOW_BYTES = 4 * 1024 * 1024;

/** How often a listener that closes looks for connections that have become idle. */
const CLOSE_CHECK_MS = 20;

/** A connection that is still busy after this is cut. */
const CLOSE_GRACE_MS = 5000;

/** One port for HTTP/1.1 and for HTTP/2 in clear text: the first bytes of a connection decide. */
export function createListener(handler: RequestListener): Server {
  const http1 = createHttp1({ keepAliveTimeout: 65_000, noDelay: true }, handler);
  const http2 = createHttp2(
    { settings: { maxConcurrentStreams: CONCURRENT_STREAMS_MAX, initialWindowSize: WINDOW_BYTES } },
    handler as never,
  );
  const http2Sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    session.setLocalWindowSize(WINDOW_BYTES);
    http2Sessions.add(session);
    session.on('close', () => http2Sessions.delete(session));
  });

  const undecided = new Set<Socket>();
  const sockets = new Set<Socket>();
  const tcp = createTcp({ noDelay: true }, (socket) => {
    sockets.add(socket);
    undecided.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      undecided.delete(socket);
    });
    socket.once('readable', () => {
      undecided.delete(socket);
      const first = socket.read() as Buffer | null;
      if (first === null) return;
      socket.unshift(first);
      (isHttp2(first) ? http2 : http1).emit('connection', socket);
    });
  });
  tcp.close = closeGently(tcp, { http1, http2Sessions, undecided, sockets });
  return tcp;
}

interface Connections {
  readonly http1: ReturnType<typeof createHttp1>;
  readonly http2Sessions: ReadonlySet<ServerHttp2Session>;
  /** Connected, and nothing was said yet. */
  readonly undecided: ReadonlySet<Socket>;
  readonly sockets: ReadonlySet<Socket>;
}

/** Requests that are under way may finish; what is idle, or takes too long, is closed. */
function closeGently(tcp: Server, connections: Connections): Server['close'] {
  const close = tcp.close.bind(tcp);
  return (done) => {
    const closeIdle = (): void => {
      connections.http1.closeIdleConnections();
      for (const session of connections.http2Sessions) session.close();
      for (const socket of connections.undecided) socket.destroy();
    };
    const checking = setInterval(closeIdle, CLOSE_CHECK_MS);
    const cutting = setTimeout(() => {
      for (const socket of connections.sockets) socket.destroy();
    }, CLOSE_GRACE_MS);
    closeIdle();
    return close((error) => {
      clearInterval(checking);
      clearTimeout(cutting);
      done?.(error);
    });
  };
}

function isHttp2(first: Buffer): boolean {
  const length = Math.min(first.length, HTTP2_PREFACE.length);
  return HTTP2_PREFACE.compare(first, 0, length, 0, length) === 0;
}
