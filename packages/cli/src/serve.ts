import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { ConfigError, MemoryReturn, Server, type ServerOptions } from '@sluice/server';
import type { ClusterServer } from '@sluice/server/cluster';
import type { Beside } from './agent/dev-agent.ts';
import { type CommandIo, ExitCode } from './base/exit-code.ts';
import { VERSION } from './base/version.ts';
import { buildCommit } from './build-commit.ts';

/**
 * Time in addition to that of open requests: closing the log takes a moment, unless the disk hangs.
 */
const CLOSE_MS_MAX = 2000;

export interface ServeOptions extends Omit<ServerOptions, 'version' | 'commit' | 'onFatal'> {
  readonly drainMs: number;
}

interface ServedBy {
  readonly greeting: (url: string) => string;
  /** Starts what runs as long as the server. It never rejects. */
  readonly beside?: (url: string) => Promise<Beside>;
}

type ServeIo = Pick<CommandIo, 'stdout' | 'stderr' | 'stop'>;

/**
 * Serves until it is told to stop, or until the server can no longer keep its promises. A stop is
 * bounded in time: requests that still wait then were not acknowledged.
 */
export async function serve(
  options: ServeOptions,
  io: ServeIo,
  { greeting, beside }: ServedBy,
): Promise<ExitCode> {
  const failed = new AbortController();
  const server = await startOrExplain(options, failed, io);
  if (typeof server === 'number') return server;

  // Without TLS a SIGHUP ends the process, as usual.
  if (options.tls !== undefined) process.on('SIGHUP', () => void server.reloadCertificate());
  io.stdout(greeting(server.url));
  // By default the compile cache is written at exit, which a killed server never reaches.
  setImmediate(flushCompileCache);
  new MemoryReturn().begin();
  const company = beside?.(server.url);
  await firstOf(io.stop, failed.signal);
  if (failed.signal.aborted) {
    io.stderr(`sluice: ${(failed.signal.reason as Error).message}`);
    await within(
      CLOSE_MS_MAX,
      Promise.resolve(company).then((started) => started?.stop()),
    );
    return ExitCode.refused;
  }
  io.stderr('sluice: stopping; signal again to end immediately');
  const close = async () => {
    await (await company)?.stop();
    await server.close();
  };
  const isClosed = await within(options.drainMs + CLOSE_MS_MAX, close());
  if (isClosed) return ExitCode.done;
  io.stderr('sluice: the disk does not respond; exiting without waiting for it');
  return ExitCode.refused;
}

async function startOrExplain(
  options: ServeOptions,
  failed: AbortController,
  io: ServeIo,
): Promise<Server | ClusterServer | ExitCode> {
  const commit = buildCommit();
  try {
    return await (await serverClass(options)).start({
      ...options,
      version: VERSION,
      ...(commit === undefined ? {} : { commit }),
      onFatal: (cause) => failed.abort(cause),
    });
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException;
    if (error instanceof ConfigError) {
      io.stderr(`sluice: ${error.message}`);
      return ExitCode.usage;
    }
    io.stderr(
      error.code === 'EADDRINUSE'
        ? `sluice: port ${options.port} is in use; choose another port with --port`
        : `sluice: cannot start: ${error.message}`,
    );
    return ExitCode.refused;
  }
}

/** The code of the database is loaded only by servers that have one. */
async function serverClass({ store }: ServeOptions) {
  return store === undefined ? Server : (await import('@sluice/server/cluster')).ClusterServer;
}

async function firstOf(...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return;
  await Promise.race(signals.map((signal) => once(signal, 'abort')));
}

/** Whether the work finished in time. */
async function within(timeMs: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeMs);
  });
  const isDone = await Promise.race([work.then(() => true), timeout]);
  clearTimeout(timer);
  return isDone;
}
