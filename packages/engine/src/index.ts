export type { Releasable } from './batch.ts';
export { Engine, type EngineOptions, EngineStoppedError, type Request } from './engine.ts';
export type { OutputPort } from './output-port.ts';
