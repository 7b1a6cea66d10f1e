import type { Platform } from '../calls/platform.ts';
import { FetchTransport } from './fetch-transport.ts';

const RANDOM_NAME_RADIX = 36;

export const BROWSER_PLATFORM: Platform = {
  // A page that the server itself delivers talks to that server.
  defaultUrl: () => {
    const { location } = globalThis as { location?: { origin: string } };
    return location?.origin.startsWith('http') ? location.origin : 'http://127.0.0.1:7420';
  },
  setting: () => undefined,
  connect: (options) => new FetchTransport(options),
  // Timers of pages are slow; what is said in a row without waiting is in time for this.
  // Called as a function of its own: a browser refuses it as a method of anything but the window.
  atEndOfTurn: (run) => queueMicrotask(run),
  workerName: () => {
    const [word] = crypto.getRandomValues(new Uint32Array(1));
    return `browser-${word.toString(RANDOM_NAME_RADIX)}`;
  },
  // A page that is closed says nothing to anybody; its tasks go to others when their leases end.
  onTermination: () => () => undefined,
};
