import type { FastifyBaseLogger } from 'fastify';

function ignore(): void {
  // Only errors are worth a line, and a line per request costs more than the request's routing.
}

function report(details: unknown, message?: string): void {
  const { err, requestId } = (details ?? {}) as { err?: Error; requestId?: string };
  const line = { time: new Date().toISOString(), level: 'error', message, requestId };
  process.stderr.write(`${JSON.stringify({ ...line, cause: err?.stack ?? String(details) })}\n`);
}

/** Where the web framework and the routes say what went wrong: a line of JSON each, on stderr. */
export const ERROR_LOG: FastifyBaseLogger = {
  level: 'error',
  fatal: report,
  error: report,
  warn: ignore,
  info: ignore,
  debug: ignore,
  trace: ignore,
  silent: ignore,
  child: () => ERROR_LOG,
};
