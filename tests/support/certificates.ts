/** Certificates for 127.0.0.1 and other addresses, made when they are needed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

export interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Each certificate has a separate authority: a client that trusts one trusts no other. */
export function makeCertificate(
  folder: string,
  name: string,
  {
    days = 2,
    addresses = [],
  }: { readonly days?: number; readonly addresses?: readonly string[] } = {},
): CertificatePaths {
  mkdirSync(folder, { recursive: true });
  const certFile = join(folder, `${name}.crt`);
  const keyFile = join(folder, `${name}.key`);
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const names = ['127.0.0.1', ...addresses].map((address) => `IP:${address}`).join(',');
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names},DNS:localhost`];
  const files = ['-nodes', '-days', `${days}`, '-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', [...args, ...subject, ...files], { stdio: 'pipe' });
  return { certFile, keyFile };
}
