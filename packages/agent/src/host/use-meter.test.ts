import { expect, test } from 'vitest';
import { UseMeter } from './use-meter.ts';

const MIB = 2 ** 20;

test('cores are the processor time since the measurement before', () => {
  let now = 0;
  let cpuMs = 500;
  const meter = new UseMeter([() => ({ cpuMs, memoryBytes: 100 * MIB })], () => now);
  now = 2000;
  cpuMs = 3500;

  const use = meter.measure();

  expect(use).toEqual({ cpu: 1.5, memoryMb: 100 });
});

test('commands and containers are counted together', () => {
  let now = 0;
  const commands = () => ({ cpuMs: now, memoryBytes: 3 * MIB });
  const containers = () => ({ cpuMs: now / 2, memoryBytes: 4 * MIB });
  const meter = new UseMeter([commands, containers], () => now);
  now = 1000;

  const use = meter.measure();

  expect(use).toEqual({ cpu: 1.5, memoryMb: 7 });
});

test('half of the use is not shown as all of it', () => {
  let now = 0;
  const meter = new UseMeter([() => ({ cpuMs: now, memoryBytes: MIB }), () => ({})], () => now);
  now = 1000;

  const use = meter.measure();

  expect(use).toEqual({});
});

test('groups that were made again count from zero', () => {
  let now = 0;
  let cpuMs = 9000;
  const meter = new UseMeter([() => ({ cpuMs, memoryBytes: 0 })], () => now);
  now = 1000;
  cpuMs = 10;

  const use = meter.measure();

  expect(use).toEqual({ cpu: 0, memoryMb: 0 });
});
