import type { IncomingHttpHeaders } from 'node:http';
import { SluiceError } from '@sluice/protocol';
import { expect, test } from 'vitest';
import { type CheckedRequest, OriginGuard } from './origin-guard.ts';

const guard = new OriginGuard(['127.0.0.1', 'Sluice.example']);

function codeOf(headers: IncomingHttpHeaders, more: Partial<CheckedRequest> = {}): string {
  try {
    guard.check({ headers, rawHeaders: [], ...more });
    return 'allowed';
  } catch (error) {
    if (error instanceof SluiceError) return error.code;
    throw error;
  }
}

test.each([
  { host: 'localhost:7420' },
  { host: '127.0.0.1' },
  { host: '127.1.2.3:80' },
  { host: '[::1]:7420' },
  { host: 'sluice.example:7420' },
  { host: 'SLUICE.EXAMPLE' },
  { ':authority': 'localhost:7420' },
  { host: 'localhost:7420', origin: 'http://localhost:7420' },
  { host: 'sluice.example', origin: 'https://sluice.example' },
  { host: 'localhost', 'sec-fetch-site': 'same-origin' },
  { host: 'localhost', 'sec-fetch-site': 'none' },
])('%j is from here', (headers) => {
  expect(codeOf(headers)).toBe('allowed');
  expect(codeOf(headers)).toBe('allowed');
});

test.each([
  { host: 'evil.example' },
  { host: 'evil.example:7420' },
  { host: 'localhost.evil.example' },
  { host: '127.0.0.1.evil.example' },
  { host: 'sluice.example.evil' },
  { host: '10.0.0.1' },
  { ':authority': 'evil.example' },
  { host: 'localhost', origin: 'https://evil.example' },
  { host: 'localhost:7420', origin: 'http://localhost:3000' },
  { host: 'localhost', origin: 'null' },
  { host: 'localhost', 'sec-fetch-site': 'cross-site' },
  { host: 'sluice.example', 'sec-fetch-site': 'cross-site', origin: 'http://sluice.example' },
])('%j may be from a page of somebody else', (headers) => {
  expect(codeOf(headers)).toBe('forbidden_origin');
});

test('every host that a request names has to be this server', () => {
  const host = 'localhost:7420';

  expect(codeOf({ host }, { url: 'http://evil.example/v1/tasks' })).toBe('forbidden_origin');
  expect(codeOf({ host }, { url: 'evil.example:80' })).toBe('forbidden_origin');
  expect(codeOf({ host }, { url: 'http://localhost:7420/v1/tasks' })).toBe('allowed');
  expect(codeOf({ ':authority': host, host: 'evil.example' })).toBe('forbidden_origin');
  const rawHeaders = ['Host', host, 'Accept', '*', 'hOST', 'evil.example'];
  expect(codeOf({ host }, { rawHeaders })).toBe('invalid_request');
});

test('a request that says no host is not valid', () => {
  expect(codeOf({})).toBe('invalid_request');
  expect(codeOf({ host: '' })).toBe('invalid_request');
});

test('probes are answered under any name, and not for other web pages', () => {
  for (const url of ['/health/live', '/health/ready']) {
    expect(codeOf({ host: '10.0.0.9:7420' }, { url })).toBe('allowed');
    expect(codeOf({ host: '10.0.0.9', origin: 'http://x.example' }, { url })).toBe(
      'forbidden_origin',
    );
  }
  for (const url of ['/health', '/health/live/x', '/healthy', '/v1/tasks?/health/live']) {
    expect(codeOf({ host: '10.0.0.9' }, { url })).toBe('forbidden_origin');
  }
});

test('a refused name comes with the flag that allows it', () => {
  const check = () => guard.check({ headers: { host: 'Sluice.Internal:80' }, rawHeaders: [] });

  expect(check).toThrow('--allowed-hosts sluice.internal');
});

test('a link of another site may lead to a page of the console, and not into the API', () => {
  const link = {
    host: 'localhost',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };

  expect(codeOf(link, { url: '/tasks/t_1?view=log' })).toBe('allowed');
  expect(codeOf(link, { url: '/v1/tasks' })).toBe('forbidden_origin');
  expect(codeOf({ ...link, 'sec-fetch-dest': 'iframe' }, { url: '/' })).toBe('forbidden_origin');
  expect(codeOf({ ...link, 'sec-fetch-mode': 'cors' }, { url: '/' })).toBe('forbidden_origin');
});
