import { SluiceClient, type SluiceOptions } from '../client/sluice-client.ts';
import { NODE_PLATFORM } from './node-platform.ts';

/**
 * A connection to a Sluice server: submits tasks, waits for them, and runs them.
 *
 * One per process is enough. It opens nothing before it is used.
 */
export class Sluice extends SluiceClient {
  constructor(options: SluiceOptions = {}) {
    super(options, NODE_PLATFORM);
  }
}
