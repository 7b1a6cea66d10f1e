/**
 * Ends with 0 if the server in this container is ready. Whether it uses TLS may be in a file, so
 * the other protocol is tried, too. The certificate is not checked: it names other hosts.
 */
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

const address = `127.0.0.1:${process.env.SLUICE_PORT || 7420}/health/ready`;
const TIMEOUT_MS = 2000;

function isReady(get, url) {
  return new Promise((resolve) => {
    const options = { rejectUnauthorized: false, timeout: TIMEOUT_MS };
    const request = get(url, options, (response) => resolve(response.statusCode === 200));
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

const plain = () => isReady(getPlain, `http://${address}`);
const secure = () => isReady(getSecure, `https://${address}`);
const [likely, other] = process.env.SLUICE_TLS_CERT_FILE ? [secure, plain] : [plain, secure];
process.exit((await likely()) || (await other()) ? 0 : 1);
