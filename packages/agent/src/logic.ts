/** The decisions of an agent, without I/O: the simulator runs them, too. */
export { type AttemptRecord, readRecord } from './logic/attempt-record.ts';
export { GpuShares } from './logic/gpu-shares.ts';
export { type LiveAttempt, LiveAttempts } from './logic/live-attempts.ts';
export { diskProblem, type HostOffer, isOtherOffer, offerOf } from './logic/offer.ts';
export { ownerless, planRecovery, startedOf } from './logic/recovery.ts';
