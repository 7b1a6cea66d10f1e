type Listener =
  | ((this: AbortSignal, event: Event) => unknown)
  | { handleEvent(event: Event): unknown };

/**
 * Passes everything that a listener of this signal throws, at once or later, to `onError`. In Node
 * it would otherwise end the process, with all other tasks of the worker.
 */
export function guardListeners(signal: AbortSignal, onError: (cause: unknown) => void): void {
  /** One guarded listener for each given one, so that it can be removed again. */
  const guarded = new WeakMap<object, (event: Event) => void>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const guard = (listener: Listener): ((event: Event) => void) => {
    const known = guarded.get(listener);
    if (known !== undefined) return known;
    const fresh = (event: Event): void => {
      new Promise((resolve) => resolve(tell(signal, listener, event))).catch(onError);
    };
    guarded.set(listener, fresh);
    return fresh;
  };
  signal.addEventListener = (type: string, listener: Listener | null, options?: unknown) =>
    add(type, (isListener(listener) ? guard(listener) : listener) as never, options as never);
  signal.removeEventListener = (type: string, listener: Listener | null, options?: unknown) =>
    remove(type, (isListener(listener) ? guard(listener) : listener) as never, options as never);
}

function isListener(listener: unknown): listener is Listener {
  return typeof listener === 'function' || (typeof listener === 'object' && listener !== null);
}

function tell(signal: AbortSignal, listener: Listener, event: Event): unknown {
  return typeof listener === 'function'
    ? listener.call(signal, event)
    : listener.handleEvent(event);
}
