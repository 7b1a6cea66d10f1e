import type { Platform } from '../calls/platform.ts';
import { FetchTransport } from './fetch-transport.ts';

const RANDOM_NAME_RADIX = 36;

export const BROWSER_PLATFORM: Platform = {
  // A page that the server itself delivers connects to that server.
  defaultUrl: () => {
    const { location } = globalThis as { location?: { origin: string } };
    return location?.origin.startsWith('http') ? location.origin : 'http://127.0.0.1:7420';
  },
  setting: () => undefined,
  connect: (options) => new FetchTransport(options),
  // Timers in pages are slow, and a microtask still runs after all synchronous calls. It is called
  // as a plain function, because a browser refuses it as a method of any object but the window.
  atEndOfTurn: (run) => queueMicrotask(run),
  // A page has six connections to a server, and other calls need some of them.
  runWaitsMax: 2,
  workerName: () => {
    const [word] = crypto.getRandomValues(new Uint32Array(1));
    return `browser-${word.toString(RANDOM_NAME_RADIX)}`;
  },
  // A closed page cannot report anything; its tasks go to other workers when their leases expire.
  onTermination: () => () => undefined,
};
