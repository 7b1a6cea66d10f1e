const LOOK_EVERY_MS = 2;

interface WaitOptions {
  /** The condition in words, for the error message. */
  readonly what: string;
  readonly timeoutMs: number;
}

/** Resolves as soon as `condition` holds, and rejects when the time is up. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  options: WaitOptions,
): Promise<void> {
  const giveUpAt = performance.now() + options.timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) {
      throw new Error(`waited ${options.timeoutMs} ms in vain until ${options.what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
