import { hostname } from 'node:os';
import type { Cancel } from '../base/ports.ts';
import type { Platform, WorkerUse } from '../calls/platform.ts';
import { NodeTransport } from './node-transport.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export const NODE_PLATFORM: Platform = {
  defaultUrl: () => 'http://127.0.0.1:7420',
  setting: (name) => process.env[name],
  connect: (options) => new NodeTransport(options),
  atEndOfTurn: (run) => void setImmediate(run),
  runWaitsMax: 32,
  workerName: () => `${hostname()}-${process.pid}`.slice(-128),
  startMeter,
  onTermination,
};

const MIB = 2 ** 20;

/** Measures this process, with all that runs in it. */
function startMeter(): () => WorkerUse {
  let before = { cpu: process.cpuUsage(), at: performance.now() };
  return () => {
    const now = { cpu: process.cpuUsage(), at: performance.now() };
    const usedUs = now.cpu.user + now.cpu.system - before.cpu.user - before.cpu.system;
    const wallMs = Math.max(1, now.at - before.at);
    before = now;
    const memoryMb = Math.round(process.memoryUsage.rss() / MIB);
    return { cpu: Math.round(usedUs / wallMs) / 1000, memoryMb };
  };
}

/** Called when the process is asked to end. */
const stops = new Set<() => Promise<void>>();

function onTermination(stop: () => Promise<void>): Cancel {
  if (stops.size === 0) for (const signal of SIGNALS) process.once(signal, terminate);
  stops.add(stop);
  return () => {
    stops.delete(stop);
    if (stops.size === 0) forgetSignals();
  };
}

function forgetSignals(): void {
  for (const signal of SIGNALS) process.off(signal, terminate);
}

/** A second signal ends the process as if there were no listener. */
async function terminate(signal: NodeJS.Signals): Promise<void> {
  forgetSignals();
  await Promise.allSettled([...stops].map((stop) => stop()));
  // Our listener kept the process from ending. If there are other listeners, the decision is
  // theirs.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}
