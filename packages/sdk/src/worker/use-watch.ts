import type { Cancel, TimePort } from '../base/ports.ts';
import type { WorkerUse } from '../calls/platform.ts';

/** What a worker tells the server about its use. */
export interface ToldUse extends WorkerUse {
  /** Slots of the handlers that run. */
  readonly slots: number;
}

const FIRST_LOOK_MS = 1000;
const LOOK_EVERY_MS = 5000;

/** A smaller change is not worth a request. */
const CHANGE_SHARE = 0.1;
const CPU_CHANGE = 0.05;
const MEMORY_CHANGE_MB = 16;

export interface UsePorts {
  readonly startTimer: TimePort['startTimer'];
  /** Undefined where nothing but slots can be measured. */
  readonly measure: (() => WorkerUse | Promise<WorkerUse>) | undefined;
  readonly slots: () => number;
  readonly tell: (use: ToldUse) => void;
}

/** Measures now and then what the worker uses, and tells it when it changed. */
export class UseWatch {
  private readonly ports: UsePorts;
  private told: ToldUse | undefined;
  /** Undefined once it has stopped, and while it measures. */
  private cancel: Cancel | undefined;
  private hasStopped = false;

  constructor(ports: UsePorts) {
    this.ports = ports;
    this.wait(FIRST_LOOK_MS);
  }

  stop(): void {
    this.hasStopped = true;
    this.cancel?.();
    this.cancel = undefined;
  }

  private wait(delayMs: number): void {
    this.cancel = this.ports.startTimer(delayMs, () => void this.look());
  }

  private async look(): Promise<void> {
    this.cancel = undefined;
    const { measure, slots, tell } = this.ports;
    const measured = await measureSafely(measure);
    if (this.hasStopped) return;
    const use = { ...measured, slots: slots() };
    if (this.told === undefined || isOtherUse(this.told, use)) {
      this.told = use;
      tell(use);
    }
    this.wait(LOOK_EVERY_MS);
  }
}

/** A worker that cannot be measured now still has slots. */
async function measureSafely(measure: UsePorts['measure']): Promise<WorkerUse> {
  try {
    return (await measure?.()) ?? {};
  } catch {
    return {};
  }
}

/** Whether the server should hear of it. */
export function isOtherUse(told: ToldUse, now: ToldUse): boolean {
  if (told.slots !== now.slots) return true;
  return (
    isOtherAmount(told.cpu, now.cpu, CPU_CHANGE) ||
    isOtherAmount(told.memoryMb, now.memoryMb, MEMORY_CHANGE_MB)
  );
}

function isOtherAmount(told: number | undefined, now: number | undefined, min: number): boolean {
  if (told === undefined || now === undefined) return told !== now;
  return Math.abs(told - now) > Math.max(min, told * CHANGE_SHARE);
}
