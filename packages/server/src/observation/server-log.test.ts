import { expect, test } from 'vitest';
import type { LogLevel } from '../base/log-level.ts';
import { ServerLog } from './server-log.ts';

function logTo(level: LogLevel, isPretty = false) {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const log = new ServerLog({ level, write, isPretty, clock: () => Date.UTC(2030, 0, 2, 3, 4, 5) });
  return { log, lines };
}

test('a line is one JSON object with time, level, message and fields', () => {
  const { log, lines } = logTo('info');

  log.line('info', 'two\nlines', { port: 7420 });

  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('\n');
  expect(JSON.parse(lines[0])).toEqual({
    time: '2030-01-02T03:04:05.000Z',
    level: 'info',
    message: 'two\nlines',
    port: 7420,
  });
});

test('on a terminal a line is for people', () => {
  const { log, lines } = logTo('info', true);

  log.line('warn', 'careful', { port: 7420 });

  expect(lines).toEqual(['03:04:05.000 warn  careful port=7420']);
});

test('what is below the level is left out', () => {
  const { log, lines } = logTo('warn');

  log.line('info', 'chatter');
  log.line('warn', 'careful');

  expect(lines).toHaveLength(1);
});

const REQUEST = { requestId: 'q_1', method: 'POST', route: '/v1/tasks' };

test('a failure of the server is an error with its cause and its request', () => {
  const { log, lines } = logTo('error');
  const cause = new Error('no way', { cause: new Error('the disk is gone') });

  log.refused({ ...REQUEST, code: 'internal_error', status: 500, cause });

  expect(JSON.parse(lines[0])).toMatchObject({
    ...REQUEST,
    level: 'error',
    message: 'request failed',
    cause: expect.stringMatching(/no way(.|\n)*the disk is gone/),
  });
});

test('a mistake of a client shows at debug, without what it said', () => {
  const quiet = logTo('info');
  const { log, lines } = logTo('debug');
  const cause = new Error('Unexpected token in {"password": "hunter2"}');

  for (const each of [quiet.log, log]) {
    each.refused({ ...REQUEST, code: 'invalid_request', status: 400, cause });
  }

  expect(quiet.lines).toEqual([]);
  expect(JSON.parse(lines[0])).toMatchObject({ ...REQUEST, level: 'debug', status: 400 });
  expect(lines[0]).not.toContain('hunter2');
});

test('what the web framework reports keeps its cause', () => {
  const { log, lines } = logTo('info');
  const framework = log.forFramework();

  framework.child({}).error({ err: new Error('no\nway') }, 'it broke');
  framework.info('incoming request');

  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0])).toMatchObject({
    level: 'error',
    message: 'it broke',
    cause: expect.stringContaining('no\nway'),
  });
});
