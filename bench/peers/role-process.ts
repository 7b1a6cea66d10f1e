/** The client or worker process of one contender. Its parent tells it what to do. */
import { ClientRole } from './client-role.ts';
import { CONTENDERS } from './contenders.ts';
import { WorkerRole } from './worker-role.ts';

const [role, name, address, queue] = process.argv.slice(2);
const contender = await CONTENDERS[name]();
const part =
  role === 'client'
    ? await ClientRole.open(contender, address, queue)
    : new WorkerRole(contender, address, queue);
const calls = part as unknown as Record<string, (args: unknown) => unknown>;

process.on('message', async ({ call, args }: { call: string; args: unknown }) => {
  try {
    process.send?.({ answer: await calls[call](args) });
  } catch (cause) {
    process.send?.({ error: cause instanceof Error ? (cause.stack ?? cause.message) : `${cause}` });
  }
});
process.once('disconnect', () => process.exit());
process.send?.({ answer: 'ready' });
