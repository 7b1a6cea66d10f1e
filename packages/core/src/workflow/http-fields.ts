import { isExpression } from './child-fields.ts';
import type { Outline } from './outline.ts';
import { isObject, type Problems } from './problems.ts';

type Fields = Readonly<Record<string, unknown>>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Longest time that a request may take to connect, or to be answered. */
const TIME_MS_MAX = 600_000;
const TIMES = ['connectionTimeOut', 'readTimeOut'];

interface WrongField {
  readonly name: string;
  readonly message: string;
}

/** The request that the input of an HTTP step describes: in `http_request`, or the input itself. */
export function requestFields(input: Fields): { readonly fields: unknown; readonly at: string } {
  const isNested = input.http_request !== undefined;
  return isNested ? { fields: input.http_request, at: '/http_request' } : { fields: input, at: '' };
}

/** Checks what can be checked before the expressions of a step are evaluated. */
export function checkHttp(step: Outline, inputs: Fields, problems: Problems): void {
  const { fields, at } = requestFields(inputs);
  const path = `${step.path}/inputParameters${at}`;
  if (isExpression(fields)) return;
  if (!isObject(fields)) {
    problems.add(path, 'bad_field', 'http_request must be an object with uri and method');
    return;
  }
  const stated = Object.entries(fields).filter(([, value]) => !isExpression(value));
  for (const { name, message } of wrongHttpFields(Object.fromEntries(stated))) {
    problems.add(`${path}/${name}`, 'bad_field', message);
  }
  if (fields.uri === undefined && fields.url === undefined) {
    problems.add(`${path}/uri`, 'missing_field', 'an HTTP step needs a uri');
  }
}

/** Which of these fields no request can have. Fields that are absent are not looked at. */
export function wrongHttpFields(fields: Fields): WrongField[] {
  const found: WrongField[] = [];
  for (const name of ['uri', 'url']) {
    const value = fields[name] ?? undefined;
    if (value === undefined || isAddress(value)) continue;
    found.push({
      name,
      message: `${name} must be an address that begins with http:// or https://`,
    });
  }
  const method = fields.method ?? 'GET';
  if (typeof method !== 'string' || !METHODS.includes(method.toUpperCase())) {
    found.push({ name: 'method', message: `method must be one of ${METHODS.join(', ')}` });
  }
  const headers = fields.headers ?? {};
  if (!isObject(headers) || !Object.values(headers).every(isHeader)) {
    found.push({ name: 'headers', message: 'headers must be an object of texts' });
  }
  for (const name of TIMES) {
    const time = fields[name] ?? 1;
    if (Number.isInteger(time) && Number(time) >= 1 && Number(time) <= TIME_MS_MAX) continue;
    const message = `${name} must be a whole number of milliseconds from 1 to ${TIME_MS_MAX}`;
    found.push({ name, message });
  }
  return found;
}

/** Form of a secret that signs: 24 to 64 bytes in base64, as for callbacks of tasks. */
const SECRET =
  /^(?:whsec_)?(?:(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?:[A-Za-z0-9+/]{4}){21}(?:[A-Za-z0-9+/]{2}==)?)$/;
/** Without a name and a password. */
const RECEIVER = /^https?:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/i;
const URL_MAX = 2048;

/** Which of these fields no callback can have. Fields that are absent are not looked at. */
export function wrongCallbackFields(fields: Fields): WrongField[] {
  const found: WrongField[] = [];
  const url = fields.url ?? 'http://-';
  if (typeof url !== 'string' || !RECEIVER.test(url) || url.length > URL_MAX) {
    const message = `url must be an address with http:// or https://, of at most ${URL_MAX} characters`;
    found.push({ name: 'url', message });
  }
  const { secret = null } = fields;
  if (secret !== null && !(typeof secret === 'string' && SECRET.test(secret))) {
    found.push({ name: 'secret', message: 'secret must be whsec_ and base64 of 24 to 64 bytes' });
  }
  return found;
}

/** Reads the `callback` of a CALLBACK. */
export function callbackFields(
  step: Outline,
  problems: Problems,
): { readonly to: Fields; readonly waits: boolean } {
  const path = `${step.path}/callback`;
  const { callback } = step.value;
  if (!isObject(callback)) {
    const what = 'a CALLBACK needs callback: an object with the url of a receiver';
    problems.add(path, 'missing_field', what);
    return { to: {}, waits: false };
  }
  const { url, secret = null } = callback;
  if (url === undefined) problems.add(`${path}/url`, 'missing_field', 'url is missing');
  const stated = Object.entries({ url, secret }).filter(([, value]) => !isExpression(value));
  for (const { name, message } of wrongCallbackFields(Object.fromEntries(stated))) {
    problems.add(`${path}/${name}`, 'bad_field', message);
  }
  return { to: { url, secret }, waits: problems.flag({ value: callback, path }, 'wait') };
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^\s/?#]+/i.test(value);
}

function isHeader(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
