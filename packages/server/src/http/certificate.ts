import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type Server } from 'node:tls';
import type { LogFields, LogLevel } from '../base/log-level.ts';

/** Where the certificate is. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** What a TLS server needs, as PEM. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Of both files: a change of either is one of it. */
  readonly digest: string;
  readonly endsAt: number;
  /** What may be said of it. */
  readonly about: LogFields;
}

/** The files cannot be read, or do not belong together. Says nothing of what is inside. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([
    readNamed('tls.certFile', files.certFile),
    readNamed('tls.keyFile', files.keyFile),
  ]);
  try {
    createSecureContext({ cert, key });
    const { subject, validTo, fingerprint256 } = new X509Certificate(cert);
    const digest = createHash('sha256').update(cert).update(key).digest('hex');
    const about = { subject, validTo, fingerprint: fingerprint256 };
    return { cert, key, digest, endsAt: Date.parse(validTo), about };
  } catch (cause) {
    throw new CertificateError(
      `tls.certFile '${files.certFile}' and tls.keyFile '${files.keyFile}' are no certificate ` +
        `and its private key: ${(cause as Error).message}`,
      { cause },
    );
  }
}

async function readNamed(setting: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new CertificateError(`${setting} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

export interface CertificateWatch {
  readonly server: Server;
  readonly files: CertificateFiles;
  readonly current: Certificate;
  readonly say: (level: LogLevel, message: string, fields: LogFields) => void;
}

/** How often the files are looked at; what a signal asks for happens at once. */
const LOOK_EVERY_MS = 5000;

const DAY_MS = 86_400_000;
const WARN_BEFORE_MS = 14 * DAY_MS;

/**
 * Gives new connections the certificate that the files hold by now; those that are there keep
 * theirs. While the files do not belong together, as between two writes, the old one stays and they
 * are looked at again.
 */
export class CertificateWatcher {
  private readonly watch: CertificateWatch;
  private current: Certificate;
  private readonly timer: NodeJS.Timeout;
  /** The last look that was asked for. */
  private looking = Promise.resolve();
  /** When it was last said that the certificate ends soon. */
  private warnedAt = Number.NEGATIVE_INFINITY;
  /** What was last said about files that cannot be used; it is not said twice. */
  private complaint = '';

  constructor(watch: CertificateWatch) {
    this.watch = watch;
    this.current = watch.current;
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
    this.warnOfEnd();
  }

  /** Never rejects. One look after the other: what was read last is what counts. */
  look(): Promise<void> {
    this.looking = this.looking.then(() => this.lookOnce());
    return this.looking;
  }

  private async lookOnce(): Promise<void> {
    const { server, files, say } = this.watch;
    this.warnOfEnd();
    try {
      const read = await readCertificate(files);
      this.complaint = '';
      if (read.digest === this.current.digest) return;
      server.setSecureContext({ cert: read.cert, key: read.key });
      this.current = read;
      say('info', 'new connections get the new certificate', read.about);
    } catch (cause) {
      const complaint = (cause as Error).message;
      if (complaint === this.complaint) return;
      this.complaint = complaint;
      say('error', 'the certificate cannot be renewed; the old one stays', { cause: complaint });
    }
  }

  /** Once a day: clients trust nothing that has ended, and all of them notice at once. */
  private warnOfEnd(): void {
    const now = Date.now();
    if (this.current.endsAt - now > WARN_BEFORE_MS || now - this.warnedAt < DAY_MS) return;
    this.warnedAt = now;
    const message = this.current.endsAt > now ? 'ends soon' : 'has ended';
    this.watch.say('warn', `the certificate ${message}`, this.current.about);
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
