import type { ErrorDetail } from '../base/sluice-error.ts';
import type { TaskDefinition } from '../schemas/task-schemas.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const SECRET_RULE =
  `must be '${SECRET_PREFIX}' and ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} random bytes in ` +
  'base64';

/** The part of a secret that stands for its bytes, in base64. */
export function secretBase64(secret: string): string {
  return secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
}

/** As Standard Webhooks has it; the prefix may be left out. */
export function isCallbackSecret(secret: string): boolean {
  const text = secretBase64(secret);
  const bytes = (text.replace(/=+$/, '').length * 3) >> 2;
  return BASE64.test(text) && bytes >= SECRET_BYTES_MIN && bytes <= SECRET_BYTES_MAX;
}

/** Adds to `problems` what a schema cannot say of where to call back. */
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

/** Where an address leads is looked at when it is called: it may lead elsewhere by then. */
function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute http or https URL';
  const { username, password } = new URL(text);
  if (username === '' && password === '') return undefined;
  return 'must not have a name and password in it';
}
