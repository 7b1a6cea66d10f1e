import { SluiceClient, type SluiceOptions } from '../client/sluice-client.ts';
import { BROWSER_PLATFORM } from './browser-platform.ts';

/** The same as on Node, over `fetch`. Without an address it connects to the server of the page. */
export class Sluice extends SluiceClient {
  constructor(options: SluiceOptions = {}) {
    super(options, BROWSER_PLATFORM);
  }
}
