/**
 * An agent in a separate process, so that a test can stop it with a signal.
 *
 *   node tests/chaos/lone-agent.ts URL FOLDER NAME LEASE_MS
 */
import { Agent } from '../../packages/agent/src/agent.ts';

const [url = '', workFolder = '', name = '', leaseMs] = process.argv.slice(2);

await Agent.start({
  url,
  workFolder,
  name,
  labels: { name },
  leaseMs: Number(leaseMs),
  onNotice: () => undefined,
});
process.stdout.write(`agent ${name} is ready at ${url}\n`);
