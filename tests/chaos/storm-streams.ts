import type { KnownThings } from './known-things.ts';

/** Maximum number of open streams. The oldest is cut for the next one. */
const OPEN_MAX = 6;

/** The worker streams that a storm opened. They are read, and cut one by one. */
export class StormStreams {
  private readonly known: KnownThings;
  private readonly open: ReadableStreamDefaultReader<Uint8Array>[] = [];

  constructor(known: KnownThings) {
    this.known = known;
  }

  /** Resolves after the first event. Later events are learned in the background. */
  async follow(response: Response): Promise<void> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    this.open.push(reader);
    if (this.open.length > OPEN_MAX) await this.open.shift()?.cancel();
    const decoder = new TextDecoder();
    let session: string | undefined;
    const readOn = async (): Promise<boolean> => {
      const { value, done } = await reader.read();
      const text = decoder.decode(value ?? new Uint8Array(), { stream: true });
      session = this.known.learnPushed(text, session);
      return !done;
    };
    if (await readOn()) void readAll(readOn);
  }

  async cutAll(): Promise<void> {
    await Promise.all(this.open.splice(0).map((reader) => reader.cancel().catch(() => undefined)));
  }
}

async function readAll(readOn: () => Promise<boolean>): Promise<void> {
  try {
    while (await readOn());
  } catch {
    // The server was killed, as storms do.
  }
}
