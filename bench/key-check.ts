/** The cost of authenticating a request: `node bench/key-check.ts`. */
import { AccessKeys } from '../packages/core/src/state/access/access-keys.ts';
import { Authenticator } from '../packages/server/src/access/authenticator.ts';
import { makeKey } from '../packages/server/src/access/key-text.ts';

const KEYS = 1000;
const ROUNDS = 300_000;

const accessKeys = new AccessKeys();
const headers: string[] = [];
for (let n = 0; n < KEYS; n++) {
  const { id, hash, text } = makeKey(1_700_000_000_000 + n);
  const about = { namespace: 'default', role: 'admin', name: '', createdAt: 0, expiresAt: 0 };
  accessKeys.put({ id, hash, ...about });
  headers.push(`Bearer ${text}`);
}
const authenticator = new Authenticator({
  state: { accessKeys },
  clock: () => 1_700_000_000_000,
  onBlocked: () => undefined,
});

function run(): number {
  const started = process.cpuUsage();
  for (let n = 0; n < ROUNDS; n++) authenticator.authenticate(headers[n % KEYS], '192.0.2.1');
  const { user, system } = process.cpuUsage(started);
  return (user + system) / ROUNDS;
}

run();
console.log(`${run().toFixed(2)} µs of CPU per request`);
