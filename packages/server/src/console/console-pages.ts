import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isApiPath } from '../http/api-path.ts';
import { type ConsoleFile, formFor, readConsoleFiles } from './console-files.ts';

/**
 * Serves the console: static files without data. What a page shows, it gets from the API with the
 * caller's key.
 *
 * Scripts and styles come only from this server, and texts can become neither.
 */
const SECURITY = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>Sluice</title>
<h1>The console was not built</h1>
<p>Build it with <code>node scripts/build-console.ts</code> in the repository, and start the
server again. The server itself works: see <a href="/openapi.json">/openapi.json</a>.</p>
</html>
`;

/** Where the build puts it, in the repository and in the published package. */
const FOLDER = path.join(import.meta.dirname, '../../../console/dist');

/** Answers requests for files and pages of the console; all others go on to the routes. */
export function consolePages(app: FastifyInstance, folder = FOLDER): void {
  let reading: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return;
    const [place] = request.url.split('?');
    if (isApiPath(place)) return;
    const isPage = wantsPage(request);
    // Without a page to show, `/` is a route of the API.
    if (!isPage && place === '/') return;
    // Read once, at the first request: a build that follows must not mix two versions.
    reading ??= readConsoleFiles(folder);
    const files = await reading.catch((cause: Error) => {
      // A build replaced the folder in this moment; the next request reads the new one.
      reading = undefined;
      throw cause;
    });
    const file = files.get(place);
    if (file !== undefined && place !== '/index.html') return sendFile(request, reply, file);
    if (!isPage) return;
    const page = files.get('/index.html');
    if (page !== undefined) return sendFile(request, reply, page);
    return reply.code(503).headers(SECURITY).type('text/html; charset=utf-8').send(NOT_BUILT);
  });
}

/** Browsers ask for HTML when somebody opens an address; other clients do not. */
function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  const { isImmutable, etag, type } = file;
  reply.headers(SECURITY).headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const { bytes, encoding } = formFor(file, request.headers['accept-encoding']);
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(type).send(bytes);
}
