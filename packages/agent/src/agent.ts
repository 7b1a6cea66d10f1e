import { createHash } from 'node:crypto';
import { readdir, rmdir } from 'node:fs/promises';
import { arch, hostname, platform } from 'node:os';
import { resolve } from 'node:path';
import { defineTask, Sluice, type Worker, type WorkerNotice } from '@sluice/sdk';
import { killAll } from './commands/end-processes.ts';
import { type CommandHost, type CommandRules, runCommand } from './commands/run-command.ts';
import type { ProcessGroups } from './host/cgroups.ts';
import { findGroups } from './host/find-groups.ts';
import { FolderLock } from './host/folder-lock.ts';
import { measureHost } from './host/measure-host.ts';
import { canEnter, findUser, ownUser } from './host/users.ts';
import { AttemptFolder, defaultWorkFolder, makeWorkFolder } from './host/work-folder.ts';
import { type HostOffer, offerOf, type Reserve } from './logic/offer.ts';

export interface AgentOptions {
  readonly url: string;
  readonly apiKey?: string;
  readonly name?: string;
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly reserve?: Partial<Reserve>;
  /** How many commands may run at once, beside what their resources allow. */
  readonly slots?: number;
  readonly workFolder?: string;
  /** Programs that may run; all of them when absent. */
  readonly programs?: readonly string[];
  readonly user?: string;
  readonly allowRoot?: boolean;
  /** Processes that one command may have at once. */
  readonly pidsMax?: number;
  readonly handleSignals?: boolean;
  readonly onNotice?: (notice: WorkerNotice) => void;
}

const RESERVE: Reserve = { cpu: 0, memoryMb: 256, diskMb: 1024 };
const SLOTS_DEFAULT = 100;
const PIDS_MAX_DEFAULT = 4096;
const DISK_MB_DEFAULT = 10_240;

/** The user of commands when the agent is root. */
const SAFE_USER = 'nobody';

/** A worker that runs commands with the resources that they ask for. */
export class Agent {
  readonly offer: HostOffer;
  readonly groups: ProcessGroups;
  readonly workFolder: string;
  private readonly sluice: Sluice;
  private readonly worker: Worker;
  private readonly lock: FolderLock;

  private constructor(parts: Pick<Agent, 'offer' | 'groups' | 'workFolder'> & Connection) {
    this.offer = parts.offer;
    this.groups = parts.groups;
    this.workFolder = parts.workFolder;
    this.sluice = parts.sluice;
    this.worker = parts.worker;
    this.lock = parts.lock;
  }

  /** Resolves when the server has welcomed it. */
  static async start(options: AgentOptions): Promise<Agent> {
    const { uid } = ownUser();
    const workFolder = resolve(options.workFolder ?? defaultWorkFolder(uid));
    await makeWorkFolder(workFolder, uid);
    const lock = FolderLock.take(workFolder);
    const sluice = new Sluice({ url: options.url, ...keyOf(options) });
    try {
      const groups = await findGroups(`sluice-${hashOf(workFolder)}`);
      await cleanUp(groups, workFolder);
      const reserve = { ...RESERVE, ...options.reserve };
      const offer = offerOf(await measureHost(workFolder), reserve);
      const rules = rulesOf(options, offer);
      await checkReach(workFolder, rules.user);
      const blobs = { url: options.url, headers: headersOf(options) };
      const host: CommandHost = { groups, workFolder, rules, blobs };
      const worker = await sluice.work([commandTask(host)], {
        resources: offer,
        slots: options.slots ?? SLOTS_DEFAULT,
        labels: { ...hostLabels(groups), ...options.labels },
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.version === undefined ? {} : { version: options.version }),
        ...(options.handleSignals === undefined ? {} : { handleSignals: options.handleSignals }),
        ...(options.onNotice === undefined ? {} : { onNotice: options.onNotice }),
        // The task shows why a command failed; the agent itself has no part in it.
        logFailures: false,
      });
      return new Agent({ offer, groups, workFolder, sluice, worker, lock });
    } catch (cause) {
      await sluice.close();
      lock.release();
      throw cause;
    }
  }

  /** Resolves when it has stopped, for whatever reason. */
  get stopped(): Promise<void> {
    return this.worker.stopped;
  }

  /** Takes no new commands, lets those that run end, and leaves. */
  async stop(graceMs?: number): Promise<void> {
    await this.worker.stop(graceMs === undefined ? {} : { graceMs });
    await this.sluice.close();
    await this.groups.dispose();
    this.lock.release();
    // It stays when something is left in it.
    await rmdir(this.workFolder).catch(() => undefined);
  }
}

interface Connection {
  readonly sluice: Sluice;
  readonly worker: Worker;
  readonly lock: FolderLock;
}

function commandTask(host: CommandHost) {
  return defineTask<unknown, unknown>({
    type: 'command',
    run: (input, context) => runCommand(host, context, input),
  });
}

function rulesOf(
  { programs, user, allowRoot = false, pidsMax = PIDS_MAX_DEFAULT }: AgentOptions,
  offer: HostOffer,
): CommandRules {
  const isRoot = ownUser().uid === 0;
  return {
    programs,
    user: user ?? (isRoot && !allowRoot ? SAFE_USER : undefined),
    allowRoot,
    pidsMax,
    diskMb: Math.min(DISK_MB_DEFAULT, offer.diskMb),
  };
}

/** A user who cannot enter the folder could run nothing: better said now than by every task. */
async function checkReach(workFolder: string, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const user = await findUser(name);
  if (user === undefined) throw new Error(`this host has no user '${name}'`);
  if (user.uid === ownUser().uid || (await canEnter(workFolder, user))) return;
  throw new Error(
    `the user '${name}' cannot enter ${workFolder}; choose another --work-dir or --user`,
  );
}

/** Labels that constraints of tasks can name. */
function hostLabels({ kind }: ProcessGroups): Record<string, string> {
  return { host: hostname(), arch: arch(), os: platform(), limits: kind.replace(' ', '-') };
}

function keyOf({ apiKey }: AgentOptions): { apiKey?: string } {
  return apiKey === undefined ? {} : { apiKey };
}

function headersOf({ apiKey }: AgentOptions): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Ends what an earlier agent left running, and removes its folders: nobody waits for it. */
async function cleanUp(groups: ProcessGroups, workFolder: string): Promise<void> {
  const attempts = (await readdir(workFolder)).filter((name) => name.startsWith('t_'));
  for (const name of new Set([...attempts, ...(await groups.names())])) {
    const group = groups.open(name);
    await killAll(group, NO_LEADER);
    await group.remove().catch(() => undefined);
    await new AttemptFolder(workFolder, name).remove();
  }
}

/** The shell that led the processes is gone, or in the group. */
const NO_LEADER = 0;
