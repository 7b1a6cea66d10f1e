import { SluiceClient, type SluiceOptions } from '../client/sluice-client.ts';
import { NODE_PLATFORM } from './node-platform.ts';

/**
 * A client of a Sluice server: submits tasks, waits for them, and runs them.
 *
 * One per process is enough. It opens no connection before it is used.
 */
export class Sluice extends SluiceClient {
  constructor(options: SluiceOptions = {}) {
    super(options, NODE_PLATFORM);
  }
}
