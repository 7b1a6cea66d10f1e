import type { AppendOutcome } from '@sluice/log';
import { expect, test } from 'vitest';
import type { Session } from '../session/session.ts';
import { BatchSends, type SendPool } from './batch-sends.ts';

const SILENCE_MS = 20;

test('a copy whose connection opens while others are looked for is not given up', async () => {
  const opening = Promise.withResolvers<Session>();
  const connections = [Promise.resolve({ name: 'first' } as Session), opening.promise];
  let taken = 0;
  const pool: SendPool = {
    take: () => connections[taken++],
    give: () => undefined,
    // The question was asked before the second connection had a name.
    run: async <T>() => {
      opening.resolve({ name: 'second' } as Session);
      await opening.promise;
      return { rows: [{ name: 'first' }], count: 1 } as T;
    },
  };
  const never = new Promise<AppendOutcome>(() => undefined);
  const sends = new BatchSends({ pool, send: () => never, silenceMs: SILENCE_MS });

  for (let round = 0; round < 3; round += 1) expect(await sends.next()).toBe('unknown');

  expect(taken).toBe(2);
});
