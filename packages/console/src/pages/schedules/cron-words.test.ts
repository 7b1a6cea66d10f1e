import { expect, test } from 'vitest';
import { cronWords } from './cron-words.ts';

test.each([
  ['0 3 * * *', 'at 03:00'],
  ['30 8 * * 1-5', 'at 08:30 on Monday to Friday'],
  ['15 30 8 * * MON,FRI', 'at 08:30:15 on Monday and Friday'],
  ['*/5 * * * *', 'every 5 minutes'],
  ['* * * * *', 'every minute'],
  ['0 * * * *', 'every hour'],
  ['15 * * * *', 'every hour at minute 15'],
  ['*/10 * * * * *', 'every 10 seconds'],
  ['*/15 9-17 * * *', 'every 15 minutes, between 09:00 and 17:59'],
  ['0 6 1 * *', 'at 06:00 on day 1 of the month'],
  ['0 0 1 1 *', 'at 00:00 on day 1 of the month in January'],
  ['@daily', 'at 00:00'],
  ['@weekly', 'at 00:00 on Sunday'],
])('%s is %s', (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

test('what has not five or six fields has no words', () => {
  expect(cronWords('every day')).toBeUndefined();
  expect(cronWords('')).toBeUndefined();
});
