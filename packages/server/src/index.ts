export { Admission } from './admission.ts';
export { Gateway } from './gateway.ts';
export { Server, type ServerOptions } from './server.ts';
export { ServerOutputs } from './server-outputs.ts';
export { TICK_MS } from './standstill.ts';
export { SteadyClock } from './steady-clock.ts';
export { TaskWaiters } from './tasks/task-waiters.ts';
export type { StreamSink } from './workers/worker-stream.ts';
export { WorkerStreams } from './workers/worker-streams.ts';
