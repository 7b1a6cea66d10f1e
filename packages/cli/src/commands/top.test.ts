import { expect, test } from 'vitest';
import { frame } from './top.command.ts';

test('nothing of what others wrote moves the cursor or turns text around', () => {
  const drawn = frame('\u001b[1mours\u001b[22m w\u001b[2J\u202e\u0007', 80, 24);

  expect(drawn).toContain('\u001b[1mours\u001b[22m w\\u001b[2J\\u202e\\u0007');
});
