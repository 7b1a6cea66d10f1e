import { beforeEach, expect, test } from 'vitest';
import { SimProcess } from '../kernel/sim-process.ts';
import { Simulation } from '../kernel/simulation.ts';
import { SilenceWatch } from './silence-watch.ts';

const HEARTBEAT_MS = 1000;
const ANSWER = { status: 200, text: '{}' };

let simulation: Simulation;
let process: SimProcess;
let watch: SilenceWatch;

beforeEach(() => {
  simulation = new Simulation({ seed: 1 });
  process = new SimProcess(simulation, 'worker1');
  watch = new SilenceWatch(simulation, process);
  watch.welcomed(HEARTBEAT_MS);
});

function pass(ms: number): void {
  simulation.now += ms;
}

test('a worker that holds a lease and says nothing for too long is noticed', () => {
  watch.started('l_1');
  pass(2000);
  watch.sent()(ANSWER);
  pass(2200);
  expect(() => watch.sent()).toThrow(/^I27: worker1 holds leases, was silent for 2200 ms/);
  expect(() => watch.over('l_1')).toThrow(/^I27/);
});

test('silence counts from the first lease, and only while there are leases', () => {
  pass(60_000);
  watch.started('l_1');
  pass(1500);
  watch.started('l_2');
  watch.over('l_1');
  pass(60_000);
  expect(() => watch.over('l_2')).toThrow(/^I27/);
});

test.each([
  ['waits for an answer', () => void watch.sent()],
  ['was not served', () => watch.sent()({ status: 503, text: '' })],
  ['got no answer', () => watch.sent()(undefined)],
  ['lost its stream', () => watch.parted()],
  ['stood still', () => process.pause(60_000)],
])('a worker that %s may be silent', (_, happens) => {
  watch.started('l_1');
  happens();
  pass(60_000);
  watch.over('l_1');
});
