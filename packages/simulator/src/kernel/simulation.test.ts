import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { RandomStream } from './random.ts';
import { SimProcess } from './sim-process.ts';
import { Simulation, ViolationError } from './simulation.ts';

/** A small world in which events depend on chance. */
async function story(seed: number): Promise<string> {
  const simulation = new Simulation({ seed });
  const random = simulation.random('story');
  const step = (left: number): void => {
    simulation.log('somebody', `${left} left`);
    if (left > 0) simulation.after(random.integer(0, 3), () => step(left - 1));
  };
  step(20);
  step(20);
  await simulation.runUntil(1000);
  return simulation.trace.hash;
}

test('the same seed gives the same trace, another seed another one', async () => {
  expect(await story(7)).toBe(await story(7));
  expect(await story(7)).not.toBe(await story(8));
});

test('streams of random numbers differ by name and do not disturb each other', () => {
  const draw = (stream: RandomStream) => [stream.next(), stream.next(), stream.next()];
  expect(draw(new RandomStream(1, 'disk'))).toEqual(draw(new RandomStream(1, 'disk')));
  expect(draw(new RandomStream(1, 'disk'))).not.toEqual(draw(new RandomStream(1, 'network')));
  expect(draw(new RandomStream(2 ** 40, 'disk'))).not.toEqual(draw(new RandomStream(0, 'disk')));
});

test('random numbers are spread evenly', () => {
  const stream = new RandomStream(3, 'any');
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) counts[stream.integer(0, 9)] += 1;
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test('things happen in the order of time, with all promises settled in between', async () => {
  const simulation = new Simulation({ seed: 1 });
  const seen: string[] = [];
  simulation.after(5, () => seen.push('five'));
  simulation.after(1, () => {
    void (async () => {
      for (let i = 0; i < 10; i++) await undefined;
      seen.push(`one, at ${simulation.now}`);
    })();
  });
  const callOff = simulation.after(3, () => seen.push('never'));
  callOff();
  await simulation.runUntil(10);
  expect(seen).toEqual(['one, at 1', 'five']);
  expect(simulation.now).toBe(10);
});

test('what goes round without waiting is noticed (simulation.time-moves)', async () => {
  const simulation = new Simulation({ seed: 1 });
  const again = () => void simulation.after(0, again);
  again();
  await expect(simulation.runUntil(10)).rejects.toThrow('simulation.time-moves: time stands still');
});

test('what is planned for later than the end stays planned', async () => {
  const simulation = new Simulation({ seed: 1 });
  const seen: number[] = [];
  simulation.after(20, () => seen.push(simulation.now));
  await simulation.runUntil(10);
  expect(seen).toEqual([]);
  await simulation.runUntil(30);
  expect(seen).toEqual([20]);
});

test('a broken rule ends the run, also when whoever noticed it went on', async () => {
  const simulation = new Simulation({ seed: 1 });
  simulation.after(1, () => {
    try {
      simulation.check(false, 'I3', 'a task ended twice');
    } catch {
      // Simulates a handler that swallows its errors.
    }
  });
  simulation.after(2, () => simulation.fail(new Error('too late')));
  await expect(simulation.runUntil(10)).rejects.toEqual(
    new ViolationError('I3', 'a task ended twice'),
  );
});

test('a process that is stopped does afterwards what fell into the pause, in order', async () => {
  const simulation = new Simulation({ seed: 1 });
  const process = new SimProcess(simulation, 'server');
  const seen: string[] = [];
  process.after(10, () => seen.push(`first at ${simulation.now}`));
  process.after(20, () => seen.push(`second at ${simulation.now}`));
  simulation.after(5, () => process.pause(100));
  await simulation.runUntil(1000);
  expect(seen).toEqual(['first at 105', 'second at 105']);
});

test('a process that is dead does nothing', async () => {
  const simulation = new Simulation({ seed: 1 });
  const process = new SimProcess(simulation, 'server');
  const seen: string[] = [];
  process.after(10, () => seen.push('done'));
  simulation.after(5, () => process.kill());
  await simulation.runUntil(1000);
  expect(seen).toEqual([]);
});

test('a process has clocks of its own', async () => {
  const simulation = new Simulation({ seed: 1 });
  await simulation.runUntil(500);
  const process = new SimProcess(simulation, 'server', { offsetMs: 60_000, drift: 0.1 });
  const start = process.wall();
  await simulation.runUntil(1500);
  expect(process.monotonic()).toBeCloseTo(1100);
  expect(process.wall() - start).toBe(1100);
  process.shiftWall(-5000);
  expect(process.wall() - start).toBe(-3900);
});

test('the trace keeps its last lines', () => {
  const simulation = new Simulation({ seed: 1 });
  for (let i = 0; i < 1000; i++) simulation.log('me', `line ${i}`);
  expect(simulation.trace.last(2).map((line) => line.slice(-8))).toEqual(['line 998', 'line 999']);
  expect(simulation.trace.last(1_000_000)).toHaveLength(200);
});

const ATTEMPTS = {
  'Date.now': 'Date.now()',
  'new Date()': 'new Date()',
  'Date()': 'Date()',
  'Math.random': 'Math.random()',
  'performance.now': 'performance.now()',
  'process.hrtime': 'process.hrtime()',
  'process.hrtime.bigint': 'process.hrtime.bigint()',
  setTimeout: 'setTimeout(() => {}, 1)',
  setInterval: 'setInterval(() => {}, 1)',
  setImmediate: 'setImmediate(() => {})',
  fetch: "fetch('http://127.0.0.1/')",
  'crypto.getRandomValues': 'crypto.getRandomValues(new Uint8Array(1))',
  'crypto.randomUUID': 'crypto.randomUUID()',
  'nodeCrypto.randomBytes': 'nodeCrypto.randomBytes(1)',
  'nodeCrypto.randomInt': 'nodeCrypto.randomInt(5)',
  'fs.openSync': "fs.openSync('/')",
  'fs.write': 'fs.write(1, "", () => {})',
  'fs.promises.open': "promises.open('/')",
};

test('in a simulation all sources of chance and real time throw', () => {
  const module = new URL('./poison.ts', import.meta.url).href;
  const attempts = Object.entries(ATTEMPTS).map(
    ([name, code]) => `[${JSON.stringify(name)}, () => ${code}]`,
  );
  const script = `
    import * as fs from 'node:fs';
    import * as promises from 'node:fs/promises';
    import * as nodeCrypto from 'node:crypto';
    import { poisonGlobals } from ${JSON.stringify(module)};
    poisonGlobals();
    const harmless = [];
    for (const [name, attempt] of [${attempts.join(',')}]) {
      try { attempt(); harmless.push(name); } catch (error) {
        if (!error.message.includes(name + ' was called in a simulation')) {
          harmless.push(name + ': ' + error.message);
        }
      }
    }
    new Date(0).toISOString();
    fs.writeSync(1, JSON.stringify(harmless));
    process.exit(0);`;
  const args = ['--input-type=module', '--eval', script];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('[]');
});
