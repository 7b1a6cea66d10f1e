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

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^\s/?#]+/i.test(value);
}

function isHeader(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
