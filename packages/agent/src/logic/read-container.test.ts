import { expect, test } from 'vitest';
import { readContainer } from './read-exec.ts';

test('numbers and truth values of expressions become texts', () => {
  const exec = readContainer({ image: 'a', args: ['-n', 28, true], env: { N: 1 } });

  expect(exec).toEqual({ image: 'a', args: ['-n', '28', 'true'], env: { N: '1' } });
});

test.each([
  [undefined, 'the task has no exec'],
  [{ image: 7 }, 'exec.image must be the name of an image'],
  [{ image: '-rm' }, 'exec.image must be the name of an image'],
  [{ image: 'a', args: 'sh' }, 'exec.args must be a list'],
  [{ image: 'a', args: [null] }, 'exec.args[0] is not allowed'],
  [{ image: 'a', workdir: 'x' }, 'exec.workdir is not allowed'],
  [{ image: 'a', network: 'container:b' }, 'exec.network is not allowed'],
  [{ image: 'a', volumes: [{ source: '/a/../etc', target: '/b' }] }, 'exec.volumes'],
  [{ image: 'a', volumes: [{ source: '/a:/b', target: '/b' }] }, 'exec.volumes'],
  [{ image: 'a', privileged: 'yes' }, 'exec.privileged is not allowed'],
  [{ image: 'a', outputs: { x: '../y' } }, 'exec.outputs is not allowed'],
])('%j: %s', (given, problem) => {
  expect(readContainer(given)).toEqual({ problem: expect.stringContaining(problem) });
});
