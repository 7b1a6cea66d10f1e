import { SluiceError } from './sluice-error.ts';

/** Not every browser has it, and the compiler does not know it here. */
interface StackCapture {
  captureStackTrace?(error: Error): void;
}

/**
 * The same promise. If it is rejected with an error of the SDK, the stack of the error is that of
 * the code that awaits the promise. The error itself was made by a callback of a socket or timer,
 * whose stack has no line of the caller.
 *
 * The engine finds the awaiting code by itself, and only for an error. Capturing a stack with every
 * call would make a submit several times as expensive.
 */
export async function traced<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (cause instanceof SluiceError) {
      (Error as StackCapture).captureStackTrace?.(cause);
    }
    throw cause;
  }
}
