import { expect, test } from 'vitest';
import { type CommandEnd, failureOf, isKilledAtLimit } from './command-end.ts';

const END: CommandEnd = {
  exitCode: 0,
  wasOutOfMemory: false,
  wasDiskFull: false,
  memoryPeakBytes: undefined,
  lastErrors: [],
};

test('exit code 0 is no failure', () => {
  expect(failureOf(END, 'true', {}, undefined)).toBeUndefined();
});

test.each([
  [1, undefined, 'exit_1', true],
  [3, [3, 4], 'exit_3', true],
  [5, [3, 4], 'exit_5', false],
  [126, undefined, 'command_not_run', false],
  [127, undefined, 'command_not_found', false],
  [127, [127], 'command_not_found', true],
  [139, undefined, 'exit_139', true],
])('exit code %i with %o to try again is %s', (exitCode, codes, code, isRetryable) => {
  const failure = failureOf({ ...END, exitCode }, 'prog', {}, codes);

  expect(failure).toMatchObject({ code, isRetryable });
});

test('the message has the signal and the last lines of stderr', () => {
  const end = { ...END, exitCode: 139, lastErrors: ['a', 'b'] };

  const failure = failureOf(end, 'prog', {}, undefined);

  expect(failure?.message).toBe("'prog' was ended by SIGSEGV: a\nb");
});

test('memory and disk beyond the limit are not tried again, whatever the exit code', () => {
  const memory = { ...END, exitCode: 137, wasOutOfMemory: true, memoryPeakBytes: 52_428_800 };
  const disk = { ...END, exitCode: 137, wasDiskFull: true };

  expect(failureOf(memory, 'p', { memoryMb: 50 }, [137])).toEqual({
    code: 'out_of_memory',
    message: 'the command needed more memory than its limit of 50 MiB; it used 50 MiB',
    isRetryable: false,
  });
  expect(failureOf(disk, 'p', { diskMb: 10 }, [137])).toMatchObject({
    code: 'out_of_disk',
    isRetryable: false,
  });
});

test('a container that was killed with all of its memory in use ran out of it', () => {
  const bytes = 32 * 2 ** 20;

  expect(isKilledAtLimit(137, bytes, 32)).toBe(true);
  expect(isKilledAtLimit(137, bytes / 2, 32)).toBe(false);
  expect(isKilledAtLimit(1, bytes, 32)).toBe(false);
  expect(isKilledAtLimit(137, bytes, undefined)).toBe(false);
});
