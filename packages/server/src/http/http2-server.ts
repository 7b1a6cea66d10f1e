import type { RequestListener } from 'node:http';
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Configuration } from '../config/settings.ts';
import { STALLED_MS, WATCH_EVERY_MS_MAX } from './http1-server.ts';

const WINDOW_BYTES = 4 * 1024 * 1024;

/** Invalid frames, and streams over the limit, before a connection is closed. */
const INVALID_FRAMES_MAX = 100;
const REJECTED_STREAMS_MAX = 100;

/** Streams that a client may open and reset: at once, and per second. */
const RESETS_AT_ONCE_MAX = 1000;
const RESETS_PER_SECOND = 50;

/** `:method`, `:path`, `:scheme` and `:authority` count as headers. */
const PSEUDO_HEADERS = 4;

const END_STREAM = constants.NGHTTP2_FLAG_END_STREAM;

export interface Http2Connections {
  readonly server: Http2Server;
  readonly sessions: ReadonlyMap<ServerHttp2Session, Activity>;
  /** Stops the idle and timeout checks. */
  readonly stopWatching: () => void;
}

interface Activity {
  /** Requests under way. */
  open: number;
  /** When the last request ended, or the connection began. */
  idleSince: number;
  hadRequest: boolean;
}

/**
 * HTTP/2 for connections that another server accepts.
 *
 * Node has request timeouts for HTTP/1.1 only. Here a timer closes a connection without a request,
 * whatever bytes trickle in: a request counts once its head is complete.
 */
export function createHttp2(
  handler: RequestListener,
  limits: Configuration['http'],
): Http2Connections {
  const server = createServer(
    {
      settings: {
        maxConcurrentStreams: limits.streamsPerConnectionMax,
        initialWindowSize: WINDOW_BYTES,
        maxHeaderListSize: limits.headerBytesMax,
      },
      maxHeaderListPairs: limits.headersMax + PSEUDO_HEADERS,
      maxSessionInvalidFrames: INVALID_FRAMES_MAX,
      maxSessionRejectedStreams: REJECTED_STREAMS_MAX,
      streamResetBurst: RESETS_AT_ONCE_MAX,
      streamResetRate: RESETS_PER_SECOND,
    },
    handler as never,
  );
  const sessions = new Map<ServerHttp2Session, Activity>();
  server.on('session', (session) => {
    session.setLocalWindowSize(WINDOW_BYTES);
    sessions.set(session, { open: 0, idleSince: performance.now(), hadRequest: false });
    session.on('close', () => sessions.delete(session));
    // An error on one connection must not affect the others.
    session.on('error', () => session.destroy());
    session.setTimeout(STALLED_MS, () => session.destroy());
  });

  /** Streams whose request body is still arriving, with their start times, oldest first. */
  const arriving = new Map<ServerHttp2Stream, number>();
  server.on('stream', (stream, _headers, flags) => {
    const activity = stream.session && sessions.get(stream.session as ServerHttp2Session);
    if (activity === undefined || activity === null) return;
    activity.open += 1;
    activity.hadRequest = true;
    const hasBody = (flags & END_STREAM) === 0;
    if (hasBody) {
      arriving.set(stream, performance.now());
      stream.once('end', () => arriving.delete(stream));
    }
    stream.once('close', () => {
      if (hasBody) arriving.delete(stream);
      activity.open -= 1;
      if (activity.open === 0) activity.idleSince = performance.now();
    });
  });

  const watch = setInterval(
    () => {
      const now = performance.now();
      cutSlow(arriving, now - limits.requestTimeoutMs);
      closeIdle(sessions, now, limits);
    },
    Math.min(WATCH_EVERY_MS_MAX, limits.headTimeoutMs),
  );
  watch.unref();
  return { server, sessions, stopWatching: () => clearInterval(watch) };
}

function cutSlow(arriving: ReadonlyMap<ServerHttp2Stream, number>, before: number): void {
  for (const [stream, since] of arriving) {
    if (since > before) return;
    stream.close(constants.NGHTTP2_CANCEL);
  }
}

function closeIdle(
  sessions: Http2Connections['sessions'],
  now: number,
  limits: Configuration['http'],
): void {
  for (const [session, { open, idleSince, hadRequest }] of sessions) {
    const idleMsMax = hadRequest ? limits.idleTimeoutMs : limits.headTimeoutMs;
    // Sends GOAWAY, and does not wait for a client that does not read it.
    if (open === 0 && now - idleSince > idleMsMax) session.destroy(undefined, NO_ERROR);
  }
}

const NO_ERROR = constants.NGHTTP2_NO_ERROR;
