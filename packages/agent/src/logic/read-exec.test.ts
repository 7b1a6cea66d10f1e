import { expect, test } from 'vitest';
import { readCommand } from './read-exec.ts';

test('numbers and truth values of expressions become texts', () => {
  const exec = readCommand({ command: ['ffmpeg', 28, true], env: { N: 1, S: { secret: 2 } } });

  expect(exec).toEqual({ command: ['ffmpeg', '28', 'true'], env: { N: '1', S: { secret: '2' } } });
});

test.each([
  [undefined, 'the task has no exec'],
  [{ command: [] }, 'exec.command must be a list'],
  [{ command: 'ls' }, 'exec.command must be a list'],
  [{ command: ['ls', null] }, 'exec.command[1] is not allowed; an expression that finds nothing'],
  [{ command: ['ls', { a: 1 }] }, 'exec.command[1] is not allowed'],
  [{ command: ['a\0b'] }, 'exec.command[0] is not allowed'],
  [{ command: ['ls'], env: { 'A B': 'x' } }, 'exec.env.A B is not allowed'],
  [{ command: ['ls'], files: { '../a': 'x' } }, 'exec.files.../a is not allowed'],
  [{ command: ['ls'], files: { a: { blob: 'x' } } }, 'exec.files.a is not allowed'],
  [{ command: ['ls'], cwd: 7 }, 'exec.cwd is not allowed'],
  [{ command: ['ls'], outputs: { a: null } }, 'exec.outputs is not allowed'],
  [{ command: ['ls'], killGraceMs: 'long' }, 'exec.killGraceMs is not allowed'],
])('%j: %s', (given, problem) => {
  expect(readCommand(given)).toEqual({ problem: expect.stringContaining(problem) });
});
