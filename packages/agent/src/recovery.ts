import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkOptions } from '@sluice/sdk';
import { RECORD_FILE } from './attempts/attempt-notes.ts';
import { endProcesses } from './commands/end-processes.ts';
import { STARTED_FILE } from './commands/start-script.ts';
import type { ContainerService } from './containers/container-service.ts';
import type { ProcessGroups } from './host/cgroups.ts';
import type { SessionFile } from './host/session-file.ts';
import { AttemptFolder } from './host/work-folder.ts';
import { readRecord } from './logic/attempt-record.ts';
import type { LiveAttempts } from './logic/live-attempts.ts';
import { type LeftAttempt, ownerless, planRecovery, startedOf } from './logic/recovery.ts';

type AdoptedWork = NonNullable<WorkOptions['adopted']>;

interface RecoveryPorts {
  readonly groups: ProcessGroups;
  readonly workFolder: string;
  readonly containers: ContainerService | undefined;
  readonly live: LiveAttempts;
  readonly session: SessionFile;
}

/** Finds what an earlier agent left, and later what nobody owns. The decisions are in the logic. */
export class Recovery {
  private readonly ports: RecoveryPorts;
  private isReconciling = false;

  constructor(ports: RecoveryPorts) {
    this.ports = ports;
  }

  /** What this agent goes on with. Everything else is ended and removed. */
  async begin(url: string): Promise<{ work: AdoptedWork | undefined; generation: number }> {
    const { session, live } = this.ports;
    const saved = session.read(url);
    const plan = planRecovery(await this.look(), saved !== undefined);
    live.adopt(plan.adopt);
    for (const name of plan.clean) await this.clean(name);
    await this.ports.containers?.clean().catch(() => undefined);
    const generation = (saved?.generation ?? 0) + 1;
    if (saved === undefined) return { work: undefined, generation };
    // Before it is used: numbers of the next agent have to be higher.
    session.write({ ...saved, generation });
    const tasks = plan.adopt.map(({ task }) => task) as AdoptedWork['tasks'];
    return { work: { sessionId: saved.sessionId, generation, tasks }, generation };
  }

  /** Ends and removes what no attempt owns. What fails is tried again at the next connection. */
  async reconcile(): Promise<void> {
    if (this.isReconciling) return;
    this.isReconciling = true;
    try {
      for (const name of ownerless(await this.names(), this.ports.live.owned)) {
        await this.clean(name);
      }
      await this.ports.containers?.clean();
    } catch {
      // The engine is away, or a folder cannot be removed now.
    } finally {
      this.isReconciling = false;
    }
  }

  private async look(): Promise<LeftAttempt[]> {
    const { workFolder, containers } = this.ports;
    const seen = {
      runsContainers: containers !== undefined,
      startedContainers: await containers?.started(),
    };
    return Promise.all(
      (await this.names()).map(async (name) => {
        const { control } = new AttemptFolder(workFolder, name);
        const text = await readFile(join(control, RECORD_FILE), 'utf8').catch(() => '');
        const record = readRecord(name, text);
        const mark = await stat(join(control, STARTED_FILE)).catch(() => undefined);
        return { name, record, started: startedOf(record, mark !== undefined, seen) };
      }),
    );
  }

  /** Attempts that have a folder or a group. */
  private async names(): Promise<string[]> {
    const { workFolder, groups } = this.ports;
    const folders = (await readdir(workFolder)).filter((name) => name.startsWith('t_'));
    return [...new Set([...folders, ...(await groups.names())])];
  }

  private async clean(name: string): Promise<void> {
    await endProcesses(this.ports.groups, name);
    await new AttemptFolder(this.ports.workFolder, name).remove();
  }
}
