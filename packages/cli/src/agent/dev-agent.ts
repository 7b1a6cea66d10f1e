import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandIo } from '../base/exit-code.ts';
import { VERSION } from '../base/version.ts';

/** Something that runs as long as a server. */
export interface Beside {
  stop(): Promise<void>;
}

/**
 * The agent of a server for development. A server without it is still of use, so a failure is only
 * said. Each data folder has its own agent, because several such servers may run on one machine.
 */
export async function startDevAgent(
  url: string,
  dataFolder: string,
  io: Pick<CommandIo, 'stderr'>,
): Promise<Beside> {
  const hash = createHash('sha256').update(dataFolder).digest('hex').slice(0, 12);
  try {
    const { Agent, engineAnswers } = await import('@sluice/agent');
    const agent = await Agent.start({
      url,
      name: 'dev-agent',
      version: VERSION,
      handleSignals: false,
      workFolder: join(tmpdir(), `sluice-dev-${process.getuid?.() ?? ''}-${hash}`),
      ...((await engineAnswers()) ? { containers: {} } : {}),
      onNotice: () => undefined,
    });
    return { stop: () => agent.stop(0) };
  } catch (cause) {
    io.stderr(`sluice: commands of tasks are not run: ${(cause as Error).message}`);
    return { stop: async () => undefined };
  }
}
