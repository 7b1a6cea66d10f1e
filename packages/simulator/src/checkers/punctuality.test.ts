import {
  DEFAULT_NAMESPACE,
  type LeaseNumber,
  leaseTokenText,
  type SessionId,
  type TaskSpec,
} from '@sluice/core';
import { expect, test } from 'vitest';
import { Punctuality } from './punctuality.ts';
import { ToldPartition } from './testing/told-partition.ts';

const GRACE_MS = 5000;

/** A partition with its checker. Time passes for both, or for the world alone. */
function begun() {
  const told = new ToldPartition();
  const { simulation } = told.story;
  const punctuality = new Punctuality(simulation, GRACE_MS);
  told.listeners.push(punctuality);
  punctuality.booted(told.partition);
  const tick = (type: 'expire_sessions' | 'renew_sessions' = 'renew_sessions') => {
    told.do({ type, now: 1000 + simulation.now });
  };
  const pass = (ms: number) => {
    simulation.now += ms;
  };
  return { told, punctuality, tick, pass };
}

function submit(told: ToldPartition, spec: Partial<TaskSpec>): void {
  const tasks = [{ type: 'a', ...spec }];
  const payloads = { inputs: new Uint8Array(), inputEnds: [0] };
  told.do({ type: 'submit_tasks', now: 1000, namespace: DEFAULT_NAMESPACE, tasks, ...payloads });
}

test('a timer that fires in time passes', () => {
  const { told, tick, pass } = begun();
  submit(told, { delayMs: 1000 });
  // An early look does no harm: with many timers, timers in the far future are coarse.
  pass(990);
  tick();
  told.do({ type: 'advance_time', now: 1990, seed: 1 });
  pass(15);
  tick();
  told.do({ type: 'advance_time', now: 2005, seed: 1 });
  pass(60_000);

  expect(() => tick()).not.toThrow();
});

test('a timer that does not fire is noticed', () => {
  const { told, tick, pass } = begun();
  submit(told, { delayMs: 1000 });
  pass(1000);
  tick();
  pass(21);
  expect(() => tick()).toThrow(/^I18/);
});

test('a timer that fires only because a tick came along is noticed', () => {
  const { told, tick, pass } = begun();
  submit(told, { delayMs: 1000 });
  pass(1400);
  expect(() => tick()).toThrow(/^I18/);
});

test('a jump of time makes a timer due from then on', () => {
  const { told, pass } = begun();
  submit(told, { delayMs: 30_000 });
  pass(500);
  told.do({ type: 'renew_sessions', now: 50_000 });
  pass(30);
  const late = { type: 'renew_sessions', now: 50_030 } as const;
  expect(() => told.do(late)).toThrow(/^I18/);
});

test('a server that stands still fires no timer, and is to do so afterwards', () => {
  const { told, tick, pass, punctuality } = begun();
  submit(told, { delayMs: 1000 });
  pass(990);
  tick();
  punctuality.stalled(10_000);
  pass(10_010);
  tick();
  pass(20);
  expect(() => tick()).toThrow(/^I18/);
});

test('a standstill that ends before it is noticed does not count as listening anew', () => {
  const { told, tick, pass, punctuality } = begun();
  told.attach();
  told.submit();
  pass(4000);
  punctuality.stalled(60_000);
  pass(700);
  punctuality.woken();
  pass(500);

  expect(() => tick('expire_sessions')).not.toThrow();
});

test('a standstill that is noticed and cut short counts as listening anew', () => {
  const { told, tick, pass, punctuality } = begun();
  told.attach();
  told.submit();
  pass(2000);
  punctuality.stalled(60_000);
  pass(2500);
  punctuality.woken();
  pass(700);
  expect(() => tick('expire_sessions')).toThrow(/^I27/);
});

test('a silent worker that keeps its task is noticed, one that reports is not', () => {
  const { told, tick, pass } = begun();
  told.attach();
  told.submit();
  pass(6000);
  told.do({
    type: 'report_attempts',
    now: 7000,
    namespace: DEFAULT_NAMESPACE,
    session: 's_1' as SessionId,
    reports: [],
    seed: 1,
    payloads: new Uint8Array(),
    payloadEnds: [],
  });
  pass(6000);
  tick();
  pass(6000);
  expect(() => tick()).toThrow(/^I27/);
});

test('a worker that is called silent before its time is noticed, by the clock of the world', () => {
  const { told, tick, pass } = begun();
  told.attach();
  told.submit();
  pass(3000);
  const setForward = { type: 'expire_sessions', now: 50_000 } as const;
  expect(() => told.do(setForward)).toThrow(/^I27/);
  expect(() => tick()).not.toThrow();
});

test('an attempt that is called silent before its time is noticed', () => {
  const { told, pass } = begun();
  told.attach();
  submit(told, { timeouts: { heartbeatMs: 4000 } });
  pass(2000);
  const setForward = { type: 'advance_time', now: 50_000, seed: 1 } as const;
  expect(() => told.do(setForward)).toThrow(/^I20/);
});

test('an attempt that is told to stop again after a standstill was silent before it', () => {
  const { told, tick, pass, punctuality } = begun();
  const session = 's_1' as SessionId;
  const { connection } = told.attach();
  submit(told, { timeouts: { heartbeatMs: 4000 } });
  const [slot] = told.partition.outputs.pushSlots;
  const number = told.partition.state.tasks.lease[slot] as LeaseNumber;
  const running = [leaseTokenText({ partition: 0, slot, number })];
  told.do({ type: 'disconnect_session', now: 1000, session, connection });
  pass(4000);
  told.do({ type: 'advance_time', now: 5000, seed: 1 });
  expect(told.partition.outputs.cancels).toEqual([]);
  punctuality.stalled(91_000);
  pass(91_000);
  tick('renew_sessions');
  told.attach({ now: 96_000, resume: { session, running } });
  told.do({ type: 'advance_time', now: 96_000, seed: 1 });
  expect(told.partition.outputs.cancels).toMatchObject([{ slot }]);
});

test('a silent worker that loses its task passes', () => {
  const { told, tick, pass } = begun();
  told.attach();
  told.submit();
  pass(6000);
  tick('expire_sessions');
  pass(2000);
  told.do({ type: 'advance_time', now: 1000 + 8000, seed: 0 });
  pass(60_000);

  expect(() => tick()).not.toThrow();
});

test('a jump of time is noticed unless the clock was set a while ago', () => {
  const { told, pass, punctuality } = begun();
  const tick = (now: number) => told.do({ type: 'renew_sessions', now });
  tick(1000);
  punctuality.clockSet();
  pass(500);
  tick(1500);
  pass(500);
  expect(() => tick(100_000)).toThrow(/^I18/);
  const late = begun();
  late.punctuality.clockSet();
  late.pass(10_000);
  late.told.do({ type: 'renew_sessions', now: 11_000 });
  late.told.do({ type: 'renew_sessions', now: 300_000 });
});

test('a clock may have been set while the server was starting', () => {
  const { told, pass, punctuality } = begun();
  punctuality.clockSet();
  pass(2000);
  punctuality.booted(told.partition);
  told.do({ type: 'renew_sessions', now: 1000 });
  pass(8000);

  expect(() => told.do({ type: 'renew_sessions', now: 300_000 })).not.toThrow();
});
