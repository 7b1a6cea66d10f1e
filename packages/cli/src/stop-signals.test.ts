import { expect, test } from 'vitest';
import { StopSignals } from './stop-signals.ts';

function signals(isTerminal: boolean) {
  const asked: string[] = [];
  const exits: number[] = [];
  const made = new StopSignals({
    isTerminal,
    ask: (question) => asked.push(question),
    exit: (code) => exits.push(code),
  });
  return { made, asked, exits };
}

test('the first signal stops the command, the second ends the process', () => {
  const { made, asked, exits } = signals(true);

  made.take('SIGINT');
  expect([made.stop.aborted, exits]).toEqual([true, []]);
  made.take('SIGTERM');
  made.take('SIGINT');

  expect([asked, exits]).toEqual([[], [143, 130]]);
});

test('with a question the first Ctrl-C on a terminal only asks', () => {
  const { made, asked, exits } = signals(true);
  made.askFirst('really?');

  made.take('SIGINT');
  expect([made.stop.aborted, asked]).toEqual([false, ['really?']]);
  made.take('SIGINT');
  expect([made.stop.aborted, exits]).toEqual([true, []]);
  made.take('SIGINT');

  expect([asked, exits]).toEqual([['really?'], [130]]);
});

test.each([
  ['without a terminal', false, 'SIGINT'],
  ['for another signal', true, 'SIGTERM'],
] as const)('nothing is asked %s', (_, isTerminal, signal) => {
  const { made, asked } = signals(isTerminal);
  made.askFirst('really?');

  made.take(signal);

  expect([made.stop.aborted, asked]).toEqual([true, []]);
});
