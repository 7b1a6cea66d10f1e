import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ScriptWatch } from './script-watch.ts';

let progress: { current: number; beganAtCpuMs: number };
let cpuMs: number;
let verdicts: string[];
let watch: ScriptWatch;

beforeEach(() => {
  vi.useFakeTimers();
  progress = { current: 1, beganAtCpuMs: 5000 };
  cpuMs = 5000;
  verdicts = [];
  const worker = { cpuUsage: async () => ({ user: cpuMs * 1000, system: 0 }) };
  watch = new ScriptWatch(worker, progress, (verdict, id) => verdicts.push(`${verdict} ${id}`));
  watch.start();
});

afterEach(() => {
  watch.stop();
  vi.useRealTimers();
});

test('a thread that uses little CPU is only waiting for the machine', async () => {
  cpuMs = 5900;
  await vi.advanceTimersByTimeAsync(15_000);

  expect(verdicts).toEqual([]);
});

test('a script that used its CPU time and more is over', async () => {
  cpuMs = 6501;
  await vi.advanceTimersByTimeAsync(500);

  expect(verdicts).toEqual(['overrun 1']);
});

test('the CPU time of the script before does not count', async () => {
  cpuMs = 9000;
  progress.beganAtCpuMs = 8900;
  await vi.advanceTimersByTimeAsync(500);

  expect(verdicts).toEqual([]);
});

test('a time that arrives when the thread has gone on is not that of the next script', async () => {
  cpuMs = 9000;
  vi.advanceTimersByTime(500);
  progress.current = 2;
  await vi.advanceTimersByTimeAsync(1);

  expect(verdicts).toEqual([]);
});

test('a thread without progress is ended at last, one that answers is not', async () => {
  await vi.advanceTimersByTimeAsync(19_000);
  watch.heard();
  await vi.advanceTimersByTimeAsync(19_000);
  expect(verdicts).toEqual([]);

  await vi.advanceTimersByTimeAsync(3000);
  expect(verdicts).toEqual(['silent 1']);
});
