import type { ErrorDetail } from '../base/sluice-error.ts';
import type { TaskDefinition } from '../schemas/task-schemas.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const SECRET_RULE =
  `must be '${SECRET_PREFIX}' and ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} random bytes in ` +
  'base64';

/** The base64 part of a secret, without its prefix. */
export function secretBase64(secret: string): string {
  return secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
}

/** The format of Standard Webhooks; the prefix is optional. */
export function isCallbackSecret(secret: string): boolean {
  const text = secretBase64(secret);
  const bytes = (text.replace(/=+$/, '').length * 3) >> 2;
  return BASE64.test(text) && bytes >= SECRET_BYTES_MIN && bytes <= SECRET_BYTES_MAX;
}

/** Adds the problems of a callback that a schema cannot express. */
export function checkCallback(
  { url, secret }: NonNullable<TaskDefinition['callback']>,
  path: string,
  problems: ErrorDetail[],
): void {
  const problem = urlProblem(url);
  if (problem !== undefined) problems.push({ path: `${path}/url`, problem });
  if (secret === undefined || isCallbackSecret(secret)) return;
  problems.push({ path: `${path}/secret`, problem: SECRET_RULE });
}

/**
 * The target address is checked when it is called, because the name may resolve differently by
 * then.
 */
function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute http or https URL';
  const { username, password } = new URL(text);
  if (username === '' && password === '') return undefined;
  return 'must not have a name and password in it';
}
