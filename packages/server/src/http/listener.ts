import { readFileSync } from 'node:fs';
import type { Server as Http1Server, RequestListener } from 'node:http';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import type { Configuration } from '../config/settings.ts';
import { overloaded } from '../limits/admission.ts';
import type { Certificate } from './certificate.ts';
import { createHttp1 } from './http1-server.ts';
import { createHttp2, type Http2Connections } from './http2-server.ts';
import { refuseConnection } from './raw-answer.ts';
import type { RefusalDesk } from './refusal.ts';

/**
 * The first bytes of an HTTP/2 client with prior knowledge; no HTTP/1.1 request starts like this.
 */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0');

/** File descriptors that connections may not use: the log must be able to open its next segment. */
const RESERVED_DESCRIPTORS = 64;

/** Surplus connections that get an error answer; further ones are just closed. */
const REFUSING_MAX = 100;

/** How often a closing listener checks for connections that became idle. */
const CLOSE_CHECK_MS = 20;

export interface ListenerOptions {
  readonly limits: Configuration['http'];
  /** A connection that is still busy this long after `close` is cut. */
  readonly drainMs: number;
  readonly desk: RefusalDesk;
  /** Without a certificate, connections are not encrypted. */
  readonly certificate: Certificate | undefined;
}

/** One port for HTTP/1.1 and HTTP/2: the first bytes of a connection decide, also inside TLS. */
export function createListener(handler: RequestListener, options: ListenerOptions): Server {
  const { limits, desk } = options;
  const http1 = createHttp1(handler, limits, desk);
  const http2 = createHttp2(handler, limits);
  const undecided = new Set<Socket>();
  const sockets = new Set<Socket>();
  const roomFor = Math.min(
    limits.connectionsMax,
    descriptorsMax() - RESERVED_DESCRIPTORS - REFUSING_MAX,
  );
  const tcp = createServer(options, undecided, (socket) => {
    socket.on('error', () => socket.destroy());
    if (sockets.size >= roomFor) return refuse(socket, desk);
    sockets.add(socket);
    undecided.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      undecided.delete(socket);
    });
    whenDecided(socket, limits.headTimeoutMs, (isHttp2) => {
      undecided.delete(socket);
      (isHttp2 ? http2.server : http1).emit('connection', socket);
    });
  });
  tcp.maxConnections = roomFor + REFUSING_MAX;
  tcp.close = closeGently(tcp, { http1, http2, undecided, sockets }, options.drainMs);
  return tcp;
}

/** Passes on connections that are ready for requests; before that they are `pending`. */
function createServer(
  { limits, certificate }: ListenerOptions,
  pending: Set<Socket>,
  onConnection: (socket: Socket) => void,
): Server {
  if (certificate === undefined) return createTcp({ noDelay: true }, onConnection);
  const { cert, key } = certificate;
  const shaking = new Map<string, Socket>();
  const tls = createTls(
    {
      cert,
      key,
      noDelay: true,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: limits.headTimeoutMs,
    },
    (socket) => {
      const raw = shaking.get(peerOf(socket));
      if (raw !== undefined) pending.delete(raw);
      onConnection(socket);
    },
  );
  tls.on('connection', (raw: Socket) => {
    const peer = peerOf(raw);
    pending.add(raw);
    shaking.set(peer, raw);
    raw.on('close', () => {
      pending.delete(raw);
      shaking.delete(peer);
    });
  });
  return tls;
}

/** A raw connection and its TLS socket have the same peer. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function refuse(socket: Socket, desk: RefusalDesk): void {
  const error = overloaded('too many connections');
  const requestId = desk.newRequestId();
  desk.refused({ code: error.code, status: error.status, requestId });
  refuseConnection(socket, error, requestId);
}

/** Reads until the bytes fit only one of the two protocols, and puts them back. */
function whenDecided(socket: Socket, timeoutMs: number, decided: (isHttp2: boolean) => void): void {
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
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

/** The process's limit on open files, or a common default where it is unknown. */
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
  readonly http1: Http1Server;
  readonly http2: Http2Connections;
  /** Connected, but the protocol is not known yet. */
  readonly undecided: ReadonlySet<Socket>;
  readonly sockets: ReadonlySet<Socket>;
}

/** Open requests may finish. Idle connections, and those that take too long, are closed. */
function closeGently(tcp: Server, connections: Connections, drainMs: number): Server['close'] {
  const { http1, http2, undecided, sockets } = connections;
  const close = tcp.close.bind(tcp);
  return (done) => {
    const closeIdle = (): void => {
      http1.closeIdleConnections();
      for (const session of http2.sessions.keys()) session.close();
      for (const socket of undecided) socket.destroy();
    };
    const checking = setInterval(closeIdle, CLOSE_CHECK_MS);
    const cutting = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, drainMs);
    closeIdle();
    return close((error) => {
      clearInterval(checking);
      clearTimeout(cutting);
      http2.stopWatching();
      // Stops watching connections. Its error is ignored, because it never listened.
      http1.close(() => undefined);
      done?.(error);
    });
  };
}
