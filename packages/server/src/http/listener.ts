import { readFileSync } from 'node:fs';
import { createServer as createHttp1, type RequestListener } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Session } from 'node:http2';
import { createServer as createTcp, type Server, type Socket } from 'node:net';

/**
 * What a client with prior knowledge of HTTP/2 sends first; no HTTP/1.1 request starts like this.
 */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0');

const CONCURRENT_STREAMS_MAX = 1000;
const WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTIONS_MAX = 10_000;

/** Descriptors that connections may not take: the log has to open its next segment. */
const RESERVED_DESCRIPTORS = 64;

/** A connection that does not say in time what it speaks is cut. */
const FIRST_BYTES_MS_MAX = 10_000;

/** How often a listener that closes looks for connections that have become idle. */
const CLOSE_CHECK_MS = 20;

/** A connection that is still busy after this is cut. */
const CLOSE_GRACE_MS = 5000;

/** One port for HTTP/1.1 and for HTTP/2 in clear text: the first bytes of a connection decide. */
export function createListener(handler: RequestListener): Server {
  const http1 = createHttp1({ keepAliveTimeout: 65_000, noDelay: true }, handler);
  // It gets its connections from here and never listens, which is when it would begin to watch
  // them.
  http1.emit('listening');
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
    whenDecided(socket, (isHttp2) => {
      undecided.delete(socket);
      (isHttp2 ? http2 : http1).emit('connection', socket);
    });
  });
  tcp.maxConnections = Math.min(CONNECTIONS_MAX, descriptorsMax() - RESERVED_DESCRIPTORS);
  tcp.close = closeGently(tcp, { http1, http2Sessions, undecided, sockets });
  return tcp;
}

/** Reads until the bytes can only be one of the two protocols, and puts them back. */
function whenDecided(socket: Socket, decided: (isHttp2: boolean) => void): void {
  const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS_MAX);
  socket.once('close', () => clearTimeout(timer));
  let first: Buffer = Buffer.alloc(0);
  const look = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    first = Buffer.concat([first, chunk]);
    const length = Math.min(first.length, HTTP2_PREFACE.length);
    const isAlike = HTTP2_PREFACE.compare(first, 0, length, 0, length) === 0;
    if (isAlike && length < HTTP2_PREFACE.length) return;
    clearTimeout(timer);
    socket.removeListener('readable', look);
    socket.unshift(first);
    decided(isAlike);
  };
  socket.on('readable', look);
}

/** The bound that the system sets for this process; where it does not say, a usual one. */
function descriptorsMax(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 1024);
  } catch {
    // Only Linux has this file.
    return 1024;
  }
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
      // Stops watching connections; that it was not listening is no news.
      connections.http1.close(() => undefined);
      done?.(error);
    });
  };
}
