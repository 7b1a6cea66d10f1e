import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type Server } from 'node:tls';
import type { LogFields, LogLevel } from '../base/log-level.ts';

/** Paths of the certificate files. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate for a TLS server, as PEM. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Digest of both files: it changes when either does. */
  readonly digest: string;
  readonly endsAt: number;
  /** Facts about the certificate that may be logged. */
  readonly about: LogFields;
}

/**
 * The files cannot be read, or do not belong together. The message reveals nothing of their
 * content.
 */
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

/** How often the files are checked; a signal checks them at once. */
const LOOK_EVERY_MS = 5000;

const DAY_MS = 86_400_000;
const WARN_BEFORE_MS = 14 * DAY_MS;

/**
 * Gives new connections the current certificate of the files. Open connections keep theirs. While
 * the files do not match, as between two writes, the old certificate stays and the files are
 * checked again.
 */
export class CertificateWatcher {
  private readonly watch: CertificateWatch;
  private current: Certificate;
  private readonly timer: NodeJS.Timeout;
  /** The last check that was requested. */
  private looking = Promise.resolve();
  /** When the last warning about the certificate's end was logged. */
  private warnedAt = Number.NEGATIVE_INFINITY;
  /** The last logged error about unusable files; it is not repeated. */
  private complaint = '';

  constructor(watch: CertificateWatch) {
    this.watch = watch;
    this.current = watch.current;
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
    this.warnOfEnd();
  }

  /** Never rejects. Checks run one after the other, so the last one read is in use. */
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

  /** Warns once a day: clients refuse an expired certificate, all at the same moment. */
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
