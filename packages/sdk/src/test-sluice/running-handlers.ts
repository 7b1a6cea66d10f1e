import { HAS_SCOPES, type HandlerScope, inScope } from './handler-scopes.ts';
import { replaceGlobals } from './replaced-globals.ts';
import { VirtualTimers } from './virtual-timers.ts';

export interface RunningHandlersOptions {
  /** Handlers use timers and dates on the virtual clock. */
  readonly fakeTimers: boolean;
  readonly now: () => number;
  /** Timers of handlers changed. */
  readonly onTimers: () => void;
}

/** The handlers of one server that have not ended, with or without a lease, and their timers. */
export class RunningHandlers {
  readonly timers: VirtualTimers;
  private readonly scopes = new Map<string, HandlerScope>();
  private readonly options: RunningHandlersOptions;

  constructor(options: RunningHandlersOptions) {
    if (options.fakeTimers && !HAS_SCOPES) {
      throw new TypeError('fakeTimers needs Node 20.16, 22.3 or later: it uses AsyncLocalStorage');
    }
    this.options = options;
    this.timers = new VirtualTimers(options.now, () => {
      this.changed();
      options.onTimers();
    });
  }

  start(lease: string, run: () => void): void {
    const { fakeTimers } = this.options;
    const scope = { handlers: this, lease, ...(fakeTimers ? { timers: this.timers } : {}) };
    this.scopes.set(lease, scope);
    this.changed();
    inScope(scope, run);
  }

  /** Runs code that reaches the handler from outside, for example its listeners. */
  within(lease: string, run: () => void): void {
    const scope = this.scopes.get(lease);
    if (scope === undefined) run();
    else inScope(scope, run);
  }

  ended(lease: string): void {
    this.scopes.delete(lease);
    this.changed();
  }

  /** A timer may outlive its handler, and its callback needs the same globals. */
  private changed(): void {
    if (!this.options.fakeTimers) return;
    replaceGlobals(this, this.scopes.size > 0 || this.timers.size > 0);
  }
}
