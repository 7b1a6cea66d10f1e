import { afterEach, expect, test, vi } from 'vitest';
import { BROWSER_PLATFORM } from './browser-platform.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('the end of a turn is asked for as browsers want it: of the window, or of nobody', () => {
  const ran: string[] = [];
  vi.stubGlobal('queueMicrotask', function strict(this: unknown, run: () => void) {
    if (this !== undefined && this !== globalThis) throw new TypeError('Illegal invocation');
    run();
  });
  const ports = { ...BROWSER_PLATFORM };

  ports.atEndOfTurn(() => ran.push('run'));

  expect(ran).toEqual(['run']);
});
