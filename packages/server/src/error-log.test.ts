import { expect, test, vi } from 'vitest';
import { ERROR_LOG } from './error-log.ts';

test('an error is one line of JSON on stderr, with the request that it belongs to', () => {
  const lines: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });

  ERROR_LOG.child({}).error({ err: new Error('no\nway'), requestId: 'q_1' }, 'request failed');
  ERROR_LOG.info('chatter');
  write.mockRestore();

  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0])).toMatchObject({
    level: 'error',
    message: 'request failed',
    requestId: 'q_1',
    cause: expect.stringContaining('no\nway'),
  });
});
