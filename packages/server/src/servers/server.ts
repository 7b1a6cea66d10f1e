import type { Server as TlsServer } from 'node:tls';
import { FolderStore } from '../assembly/folder-store.ts';
import { DEFAULTS, type ServerOptions } from '../assembly/server-options.ts';
import { ConfigError } from '../config/load-config.ts';
import { PartitionHost } from '../host/partition-host.ts';
import {
  type Certificate,
  CertificateError,
  type CertificateFiles,
  CertificateWatcher,
  readCertificate,
} from '../http/certificate.ts';
import { createListener, type ListenerOptions } from '../http/listener.ts';
import { urlOf } from '../http/server-url.ts';
import { ServerLog } from '../observation/server-log.ts';

/** The embedded server: one partition in a data folder, with HTTP around it. */
export class Server {
  readonly url: string;
  private readonly host: PartitionHost;
  private readonly log: ServerLog;
  private readonly drainMs: number;
  /** Absent without TLS. */
  private readonly watcher: CertificateWatcher | undefined;

  private constructor(parts: Parts, url: string) {
    this.url = url;
    this.host = parts.host;
    this.log = parts.log;
    this.drainMs = parts.drainMs;
    this.watcher = parts.watcher;
  }

  /**
   * Recovers from the log, then listens: no request reaches a server that does not know its tasks.
   */
  static async start(options: ServerOptions): Promise<Server> {
    const certificate = options.tls && (await certificateOf(options.tls));
    const log = options.log ?? ServerLog.onStderr('error');
    const { drainMs = DEFAULTS.drainMs } = options;
    const listening = { ...listenerOptions(options), certificate };
    const host = await PartitionHost.start({
      server: options,
      log,
      store: new FolderStore(options),
      makeServer: (handler, desk) => createListener(handler, { ...listening, desk }),
    });
    const { app } = host;
    try {
      await app.listen({ host: options.host, port: options.port });
    } catch (cause) {
      await host.close(0);
      throw cause;
    }
    await host.begin();
    const url = urlOf(app.server, options, certificate !== undefined);
    log.line('info', 'the server is listening', { url, version: options.version });
    const server = app.server as unknown as TlsServer;
    const watcher = watchCertificate(server, options.tls, certificate, log);
    return new Server({ host, log, drainMs, watcher }, url);
  }

  /** Reloads the certificate files for new connections. Never rejects. */
  async reloadCertificate(): Promise<void> {
    await this.watcher?.look();
  }

  /** Tells the workers, finishes open requests, and releases the data folder. */
  async close(): Promise<void> {
    this.log.line('info', 'the server is stopping');
    this.watcher?.stop();
    await this.host.close(this.drainMs);
    this.log.line('info', 'the server has stopped');
  }
}

interface Parts {
  readonly host: PartitionHost;
  readonly log: ServerLog;
  readonly drainMs: number;
  readonly watcher: CertificateWatcher | undefined;
}

/** What a listener is made with, besides its certificate and what it refuses with. */
export function listenerOptions(
  options: ServerOptions,
): Pick<ListenerOptions, 'limits' | 'drainMs'> {
  return {
    limits: { ...DEFAULTS.http, ...options.http },
    drainMs: options.drainMs ?? DEFAULTS.drainMs,
  };
}

export async function certificateOf(files: CertificateFiles): Promise<Certificate> {
  try {
    return await readCertificate(files);
  } catch (cause) {
    if (cause instanceof CertificateError) throw new ConfigError([cause.message]);
    throw cause;
  }
}

export function watchCertificate(
  server: TlsServer,
  files: CertificateFiles | undefined,
  current: Certificate | undefined,
  log: ServerLog,
): CertificateWatcher | undefined {
  if (files === undefined || current === undefined) return undefined;
  const say: ServerLog['line'] = (level, message, fields) => log.line(level, message, fields);
  return new CertificateWatcher({ server, files, current, say });
}
