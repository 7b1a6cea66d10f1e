import type { PushedTask } from '@sluice/protocol';
import { expect, test } from 'vitest';
import type { HandlerRuns } from '../checkers/rules/handler-runs.ts';
import { Simulation } from '../kernel/simulation.ts';
import { CONTAINER, PROGRAM, SimHost } from './sim-host.ts';

function makeHost() {
  const simulation = new Simulation({ seed: 1 });
  const runs = { started: () => undefined } as unknown as HandlerRuns;
  const host = new SimHost('host', { simulation, random: simulation.random('host'), runs });
  const spawn = (name: string, task: Partial<PushedTask> = {}, gpus: string[] = []) => {
    host.makeFolder(name);
    const input = { n: 1, runMs: 1000, end: 'hangs' };
    host.spawn(name, { type: PROGRAM, lease: name, input, ...task } as PushedTask, gpus);
  };
  return { host, spawn, pass: () => simulation.runUntil(simulation.now + 100) };
}

test('programs with leases, GPUs and room of their own pass', async () => {
  const { host, spawn, pass } = makeHost();
  spawn('a', { resources: { cpu: 0.5 } }, ['0']);
  spawn('b', { resources: { cpu: 0.5 } }, ['1']);

  await pass();

  expect(host.look('a')).toMatchObject({ state: 'running', wasStarted: true });
});

test('a second program under one lease is noticed', async () => {
  const { spawn, pass } = makeHost();
  spawn('a');
  spawn('b', { lease: 'a' });

  await expect(pass()).rejects.toThrow(/^I45: host runs [ab] under a, which runs already/);
});

test('programs that need more than the host has are noticed', async () => {
  const { host, spawn, pass } = makeHost();
  spawn('a', { resources: { cpu: host.cores } });
  spawn('b', { resources: { cpu: 0.1 } });

  await expect(pass()).rejects.toThrow(/^I45: host has no room/);
});

test('two programs with one GPU are noticed', async () => {
  const { spawn, pass } = makeHost();
  spawn('a', {}, ['0']);
  spawn('b', {}, ['0']);

  await expect(pass()).rejects.toThrow(/^I45: two programs on host have one GPU/);
});

test('a program whose folder is removed before it starts never starts', async () => {
  const { host, spawn, pass } = makeHost();
  spawn('a');
  host.remove('a');

  await pass();

  expect(host.look('a')).toMatchObject({ state: 'lost', wasStarted: false });
});

test('an engine that is away answers nothing, kills nothing and keeps its containers', async () => {
  const { host, spawn, pass } = makeHost();
  spawn('a', { type: CONTAINER });
  await pass();
  host.isEngineUp = false;
  host.removeContainer('a');

  const seen = [host.containers(), host.look('a'), host.kill('a')];

  expect(seen).toEqual([undefined, undefined, false]);
  host.isEngineUp = true;
  expect(host.look('a')).toMatchObject({ state: 'running' });
});
