import { expect, test } from 'vitest';
import { outputValue } from './output-value.ts';
import { programProblem } from './program-rules.ts';
import { plainVariables, redactor } from './secrets.ts';

test('the output is the result file, the last JSON line or the exit code', () => {
  const lastLine = '{"a": 1}';

  expect(outputValue({ resultFile: '[2]', lastLine })).toEqual([2]);
  expect(outputValue({ resultFile: undefined, lastLine })).toEqual({ a: 1 });
  expect(outputValue({ resultFile: ' \n', lastLine: '{not json' })).toEqual({ exitCode: 0 });
  expect(outputValue({ resultFile: undefined, lastLine: '42' })).toEqual({ exitCode: 0 });
  expect(() => outputValue({ resultFile: 'oops', lastLine })).toThrow(SyntaxError);
});

test('without a list every program may run, with one only those on it', () => {
  expect(programProblem('rm', undefined)).toBeUndefined();
  expect(programProblem('ffmpeg', ['ffmpeg'])).toBeUndefined();
  expect(programProblem('/tmp/ffmpeg', ['ffmpeg'])).toContain("only ffmpeg, not '/tmp/ffmpeg'");
});

test('secrets are variables like others, and are replaced in lines', () => {
  const env = { A: 'plain', B: { secret: 'hunter2' }, C: { secret: 'hunter2more' } };

  expect(plainVariables(env)).toEqual({ A: 'plain', B: 'hunter2', C: 'hunter2more' });
  expect(redactor(env)('plain hunter2 hunter2more')).toBe('plain *** ***');
});

test('a secret that is too short to be told from other text stays', () => {
  expect(redactor({ A: { secret: 'a' } })('banana')).toBe('banana');
});
