import { createHash } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { arch, hostname, platform } from 'node:os';
import { resolve } from 'node:path';
import { defineTask, HandBack, Sluice, type TaskContext, type Worker } from '@sluice/sdk';
import {
  type AgentOptions,
  containerSettings,
  DISK_MB_DEFAULT,
  PIDS_MAX_DEFAULT,
  RESERVE,
  SLOTS_DEFAULT,
} from './agent-options.ts';
import { type CommandHost, type CommandRules, runCommand } from './commands/run-command.ts';
import { ContainerService } from './containers/container-service.ts';
import type { ProcessGroups } from './host/cgroups.ts';
import { findGpus } from './host/find-gpus.ts';
import { findGroups } from './host/find-groups.ts';
import { FolderLock } from './host/folder-lock.ts';
import { measureHost } from './host/measure-host.ts';
import { OfferWatch } from './host/offer-watch.ts';
import { PipePool } from './host/pipe-pool.ts';
import { SessionFile } from './host/session-file.ts';
import { UseMeter } from './host/use-meter.ts';
import { canEnter, findUser, ownUser } from './host/users.ts';
import { defaultWorkFolder, makeWorkFolder } from './host/work-folder.ts';
import { isObject } from './logic/exec-fields.ts';
import { FailedHere } from './logic/failed-here.ts';
import { GpuShares } from './logic/gpu-shares.ts';
import { LiveAttempts } from './logic/live-attempts.ts';
import { type HostOffer, offerOf } from './logic/offer.ts';

import { Recovery } from './recovery.ts';

/** The user of commands when the agent is root. */
const SAFE_USER = 'nobody';

const CONTAINER = 'container';

interface Host {
  readonly offer: HostOffer;
  readonly groups: ProcessGroups;
  readonly workFolder: string;
  readonly containers: ContainerService | undefined;
}

/** What an agent has open. */
interface Connection extends Host {
  readonly sluice: Sluice;
  readonly worker: Worker;
  readonly lock: FolderLock;
  readonly session: SessionFile;
  readonly watch: OfferWatch;
  readonly live: LiveAttempts;
  readonly pipes: PipePool;
}

/** A worker that runs commands and containers with the resources that they ask for. */
export class Agent {
  readonly offer: HostOffer;
  readonly groups: ProcessGroups;
  readonly workFolder: string;
  /** Undefined when it runs none. */
  readonly containers: ContainerService | undefined;
  private readonly connection: Connection;

  private constructor(connection: Connection) {
    this.offer = connection.offer;
    this.groups = connection.groups;
    this.workFolder = connection.workFolder;
    this.containers = connection.containers;
    this.connection = connection;
  }

  /** Resolves when the server has welcomed it. */
  static async start(options: AgentOptions): Promise<Agent> {
    const { uid } = ownUser();
    const workFolder = resolve(options.workFolder ?? defaultWorkFolder(uid));
    await makeWorkFolder(workFolder, uid);
    const lock = FolderLock.take(workFolder);
    const sluice = new Sluice({ url: options.url, ...keyOf(options) });
    try {
      return new Agent(await connect(options, { workFolder, lock, sluice }));
    } catch (cause) {
      await sluice.close();
      lock.release();
      throw cause;
    }
  }

  /** Resolves when it has stopped, for whatever reason. */
  get stopped(): Promise<void> {
    return this.connection.worker.stopped;
  }

  /** Takes nothing new, lets what runs end, and leaves. */
  async stop(graceMs?: number): Promise<void> {
    const { worker, sluice, lock, session, watch, live, pipes } = this.connection;
    watch.stop();
    await worker.stop(graceMs === undefined ? {} : { graceMs });
    await sluice.close();
    await live.settled();
    await pipes.close();
    await this.containers?.stop();
    await this.groups.dispose();
    session.remove();
    lock.release();
    // It stays when something is left in it.
    await rmdir(this.workFolder).catch(() => undefined);
  }
}

interface Opened {
  readonly workFolder: string;
  readonly lock: FolderLock;
  readonly sluice: Sluice;
}

async function connect(options: AgentOptions, opened: Opened): Promise<Connection> {
  const { workFolder, sluice } = opened;
  const agent = `sluice-${hashOf(workFolder)}`;
  const groups = await findGroups(agent);
  const found = await findGpus();
  const gpus = options.gpus ?? found.indexes;
  const shares = new GpuShares(gpus, options.gpuShares);
  const live = new LiveAttempts(shares, Date.now);
  const reserve = { ...RESERVE, ...options.reserve };
  const offer = offerOf(await measureHost(workFolder), reserve, { gpus: shares.offered });
  const blobs = { url: options.url, headers: headersOf(options) };
  const rules = rulesOf(options, offer);
  if (options.commands !== false) await checkReach(workFolder, rules.user);
  const command: CommandHost = {
    groups,
    workFolder,
    rules,
    blobs,
    live,
    pipes: await PipePool.open(workFolder),
    hasGpus: gpus.length > 0,
  };
  const reasons = new Reasons();
  const containers =
    options.containers &&
    (await ContainerService.open(containerSettings(options.containers), {
      agent,
      workFolder,
      pidsMax: rules.pidsMax,
      diskMb: rules.diskMb,
      reserveMb: reserve.diskMb,
      blobs,
      live,
      onChange: (problem) => reasons.change('engine', problem && { [CONTAINER]: problem }),
    }));
  if (containers?.problem !== undefined) {
    reasons.change('engine', { [CONTAINER]: containers.problem });
  }
  const types = typesOf(options, command, containers);
  const session = new SessionFile(workFolder);
  const recovery = new Recovery({ groups, workFolder, containers, live, session });
  const adopted = await recovery.begin(options.url);
  const meter = meterOf(groups, containers || undefined);
  const worker = await sluice.work(types, {
    ...workOptions(options, { offer, groups, workFolder, containers }, found.model),
    unavailable: reasons.all,
    measure: () => meter.measure(),
    ...(adopted.work === undefined ? {} : { adopted: adopted.work }),
    onReported: (lease) => live.reported(lease),
    onSession: (sessionId) => {
      session.write({ url: options.url, sessionId, generation: adopted.generation });
      void recovery.reconcile();
    },
  });
  reasons.onChange = (all) => worker.changeUnavailable(all);
  containers?.watch();
  const watch = new OfferWatch(offer, {
    measure: () => measureHost(workFolder),
    writtenBytes: () => live.writtenBytes,
    gpus: shares.offered,
    reserve,
    onOffer: (changed) => worker.changeResources(changed),
    onDisk: (problem) => {
      const both = types.map(({ type }) => [type, problem]);
      reasons.change('disk', problem && Object.fromEntries(both));
    },
  });
  const { pipes } = command;
  return { ...opened, offer, groups, containers, worker, session, watch, live, pipes };
}

/** Measures what commands and containers use together. */
function meterOf(groups: ProcessGroups, containers: ContainerService | undefined): UseMeter {
  const sources = [() => groups.use(), ...(containers ? [() => containers.use()] : [])];
  return new UseMeter(sources, () => performance.now());
}

/** Why the agent takes nothing of a type, by what is in the way. */
class Reasons {
  private readonly causes = new Map<string, Readonly<Record<string, string>>>();
  onChange: (all: Readonly<Record<string, string>>) => void = () => undefined;

  get all(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.causes.values()) as Record<string, string>;
  }

  change(cause: string, reasons: Readonly<Record<string, string>> | undefined | ''): void {
    if (reasons) this.causes.set(cause, reasons);
    else this.causes.delete(cause);
    this.onChange(this.all);
  }
}

function typesOf(
  { commands = true }: AgentOptions,
  host: CommandHost,
  containers: ContainerService | undefined,
) {
  const failed = new FailedHere();
  const command = defineTask<unknown, unknown>({
    type: 'command',
    run: (input, context) => {
      return elsewhereFirst(failed, context, () => runCommand(host, context, input));
    },
  });
  const container =
    containers &&
    defineTask<unknown, unknown>({
      type: CONTAINER,
      run: (input, context) => {
        return elsewhereFirst(failed, context, () => containers.run(context, input));
      },
    });
  return [...(commands ? [command] : []), ...(container === undefined ? [] : [container])];
}

/** Lets another host try what failed here, if the task asks for it. */
async function elsewhereFirst(
  failed: FailedHere,
  { id, attempt, exec }: TaskContext,
  run: () => Promise<unknown>,
): Promise<unknown> {
  if (!isObject(exec) || exec.avoidLastHost !== true) return run();
  if (failed.belongsElsewhere({ id, attempt }, Date.now())) {
    throw new HandBack('it failed here last, and another host may try it first');
  }
  try {
    return await run();
  } catch (cause) {
    failed.note({ id, attempt });
    throw cause;
  }
}

function workOptions(
  options: AgentOptions,
  { offer, groups, containers }: Host,
  model: string | undefined,
) {
  const { name, version, leaseMs, handleSignals, onNotice } = options;
  return {
    resources: offer,
    slots: options.slots ?? SLOTS_DEFAULT,
    labels: {
      ...hostLabels(groups, containers),
      ...(offer.gpu === undefined || model === undefined ? {} : { gpu: model }),
      ...options.labels,
    },
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(handleSignals === undefined ? {} : { handleSignals }),
    ...(onNotice === undefined ? {} : { onNotice }),
    // The task shows why a program failed; the agent itself has no part in it.
    logFailures: false,
  };
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
function hostLabels(
  { kind }: ProcessGroups,
  containers: ContainerService | undefined,
): Record<string, string> {
  return {
    host: hostname(),
    arch: arch(),
    os: platform(),
    limits: kind.replace(' ', '-'),
    ...(containers === undefined ? {} : { engine: containers.engineText.replace(' ', '-') }),
  };
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
