import { expect, test } from 'vitest';
import { currentContext, inProcess, type ProcessContext } from './process-context.ts';
import { ContextTimer, sleepIn, uuidIn } from './process-globals.ts';
import { SimProcess } from './sim-process.ts';
import { Simulation } from './simulation.ts';

function contextOf(simulation: Simulation, name: string): ProcessContext {
  const process = new SimProcess(simulation, name);
  return { process, random: simulation.random(name), requestHttp: () => undefined };
}

test('what a promise continues belongs to the process that waited for it', async () => {
  const simulation = new Simulation({ seed: 1 });
  const [one, other] = [contextOf(simulation, 'one'), contextOf(simulation, 'other')];
  const seen: (string | undefined)[] = [];
  const wait = async (ms: number) => {
    await sleepIn(currentContext() as ProcessContext, ms);
    seen.push(currentContext()?.process.name);
  };
  inProcess(one, () => void wait(20));
  inProcess(other, () => void wait(10));

  await simulation.runUntil(100);

  expect(seen).toEqual(['other', 'one']);
  expect(currentContext()).toBeUndefined();
});

test('a timer of a process that is gone never fires, and a repeated one ends', async () => {
  const simulation = new Simulation({ seed: 1 });
  const [one, other] = [contextOf(simulation, 'one'), contextOf(simulation, 'other')];
  const seen: string[] = [];
  new ContextTimer(one, 10, () => seen.push('one'));
  const repeated = new ContextTimer(other, 10, () => seen.push('other'), true);
  simulation.after(5, () => one.process.kill());
  simulation.after(35, () => repeated.cancel());

  await simulation.runUntil(100);

  expect(seen).toEqual(['other', 'other', 'other']);
});

test('a sleep that is cut short rejects', async () => {
  const simulation = new Simulation({ seed: 1 });
  const cut = new AbortController();
  const sleeping = sleepIn(contextOf(simulation, 'one'), 10, undefined, { signal: cut.signal });

  cut.abort(new Error('enough'));

  await expect(sleeping).rejects.toThrow('enough');
});

test('random names of a process are the same for the same seed', () => {
  const name = () => uuidIn(contextOf(new Simulation({ seed: 3 }), 'one'));

  expect(name()).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(name()).toBe(name());
});
