import { expect, test } from 'vitest';
import { WaitingViews } from './waiting-views.ts';

/** A term and timers that the test moves. */
function world() {
  let isOver = false;
  const timers: (() => void)[] = [];
  const renewals: { release: () => void; drop: (cause: Error) => void }[] = [];
  const term = {
    isOver: () => isOver,
    whenRenewed: (release: () => void, drop: (cause: Error) => void) =>
      void renewals.push({ release, drop }),
  };
  const views = new WaitingViews(term, (_, ring) => {
    timers.push(ring);
    return () => undefined;
  });
  const said: string[] = [];
  const view = (name: string) =>
    views.add({
      release: () => said.push(name),
      drop: ({ message }) => said.push(`${name}: ${message}`),
    });
  return {
    ...{ said, view, renewals },
    end: () => {
      isOver = true;
    },
    tick: () => {
      for (const ring of timers.splice(0)) ring();
    },
    timerCount: () => timers.length,
  };
}

test('a view is given up when the term is over and is not renewed', () => {
  const { said, view, renewals, end, tick } = world();
  const waiting = view('one');
  tick();
  expect(renewals).toHaveLength(0);

  end();
  tick();
  renewals[0].drop(new Error('over'));
  waiting.release();

  expect(said).toEqual(['one: over']);
});

test('a view that is released in time is not given up, and no timer is left', () => {
  const { said, view, renewals, end, tick, timerCount } = world();
  const waiting = view('one');
  end();
  tick();

  waiting.release();
  renewals[0].drop(new Error('over'));
  tick();

  expect(said).toEqual(['one']);
  expect(timerCount()).toBe(0);
});
