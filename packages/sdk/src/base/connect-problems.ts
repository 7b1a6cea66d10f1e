/** Codes of certificates that Node does not trust, and what is wrong with them. */
const CERTIFICATE_CODES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is signed by an unknown authority',
};

/** Certificates with a problem that a trusted authority does not solve. */
const OTHER_CERTIFICATE_CODES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet; is the clock of this machine right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host name',
};

/** The other side does not speak TLS. */
const NO_TLS_CODES: readonly string[] = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER'];

/** Codes of failed connects: no byte of the request was sent. */
const UNCONNECTED_CODES: readonly string[] = [
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
];

/**
 * What is wrong with the certificate of the server, and what to do; undefined for a code that is
 * not about certificates.
 */
export function certificateProblem(code: string): string | undefined {
  if (Object.hasOwn(OTHER_CERTIFICATE_CODES, code)) {
    return `the certificate of the server ${OTHER_CERTIFICATE_CODES[code]} (${code})`;
  }
  if (!Object.hasOwn(CERTIFICATE_CODES, code)) return undefined;
  const what = `the certificate of the server ${CERTIFICATE_CODES[code]} (${code})`;
  return `${what}; if you trust it, set NODE_EXTRA_CA_CERTS to the file of its authority`;
}

/** Why a connection failed, in a few words. */
export function connectProblem(code: string): string {
  if (NO_TLS_CODES.includes(code)) return 'there is no TLS at this port; use an http address';
  return certificateProblem(code) ?? code;
}

/** Whether no byte of the request can have reached a server. */
export function isUnsent(code: string): boolean {
  if (UNCONNECTED_CODES.includes(code) || NO_TLS_CODES.includes(code)) return true;
  return certificateProblem(code) !== undefined;
}
