import { expect, test } from 'vitest';
import { CronError, parseCron } from './cron-pattern.ts';

test.each([
  ['* * *', 'it has 3 fields; it needs 5 (minute, hour, day of the month, month, day of the week)'],
  ['', 'it has 0 fields'],
  ['60 * * * *', "'60' in the minute is not from 0 to 59"],
  ['* 24 * * *', "'24' in the hour is not from 0 to 23"],
  ['* * 0 * *', "'0' in the day of the month is not from 1 to 31"],
  ['* * * 13 *', "'13' in the month is not from 1 to 12 or JAN"],
  ['* * * * 8', "'8' in the day of the week is not from 0 to 7 or SUN"],
  ['* * * * FUN', "'FUN' in the day of the week"],
  ['*/0 * * * *', "the step of '*/0' in the minute is not from 1 to 59"],
  ['1/2/3 * * * *', "'1/2/3' in the minute"],
  ['40-10 * * * *', "the range '40-10' in the minute goes down; write it as two"],
  ['1-2-3 * * * *', "'1-2-3' in the minute"],
  ['-1 * * * *', "'' in the minute"],
  ['1.5 * * * *', "'1.5' in the minute"],
  ['@sometimes', "'@sometimes' is not known; @yearly"],
  ['0 0 30 2 *', 'there is no day 30 in month 2, so it would never fire'],
  ['0 0 31 4,6 *', 'there is no day 31 in month 4,6'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseCron(text)).toThrow(CronError);
  expect(() => parseCron(text)).toThrow(message);
});

test('names, lists, ranges and steps', () => {
  const { minutes, hours, months, seconds } = parseCron('5,10-20/5,50/4 8-10 * jan-mar mon-fri');
  expect(minutes).toEqual([5, 10, 15, 20, 50, 54, 58]);
  expect(hours).toEqual([8, 9, 10]);
  expect(months).toBe(0b1110);
  expect(seconds).toEqual([0]);
  expect(parseCron('*/20 * * * * *').seconds).toEqual([0, 20, 40]);
});

test('shorthands and Sunday by two numbers', () => {
  expect(parseCron('@daily')).toEqual(parseCron('0 0 * * *'));
  expect(parseCron('0 0 * * 7')).toEqual(parseCron('0 0 * * SUN'));
});
