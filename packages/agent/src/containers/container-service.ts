import { statfs } from 'node:fs/promises';
import type { TaskContext } from '@sluice/sdk';
import type { BlobServer } from '../attempts/blob-transfer.ts';
import { ContainerEngine, type EngineFacts } from '../engine/container-engine.ts';
import type { GroupsUse } from '../host/cgroups.ts';
import { ContainerGroups } from '../host/container-groups.ts';
import type { ContainerRules } from '../logic/container-rules.ts';
import { AGENT_LABEL } from '../logic/container-spec.ts';
import type { LiveAttempts } from '../logic/live-attempts.ts';
import { ownerless } from '../logic/recovery.ts';
import { ImageStore } from './image-store.ts';
import { type ContainerHost, runContainer } from './run-container.ts';

const LOOK_EVERY_MS = 2000;
const COLLECT_EVERY_MS = 600_000;
const MIB = 2 ** 20;

export interface ContainerSettings extends ContainerRules {
  readonly socket: string;
  /** For containers that state none. */
  readonly network: string;
  /** Images that were not used for this long are removed. */
  readonly imageAgeMsMax: number;
}

export interface ContainerParts {
  readonly agent: string;
  readonly workFolder: string;
  readonly pidsMax: number;
  readonly diskMb: number;
  /** Images go when less than this is free. */
  readonly reserveMb: number;
  readonly blobs: BlobServer;
  readonly live: LiveAttempts;
  /** The engine went away, with the reason, or came back. */
  readonly onChange: (problem: string | undefined) => void;
}

/**
 * Containers on this host: watches the engine, runs what tasks ask for, and removes what nobody
 * owns.
 */
export class ContainerService {
  readonly engine: ContainerEngine;
  private readonly settings: ContainerSettings;
  private readonly parts: ContainerParts;
  private readonly images: ImageStore;
  private facts: EngineFacts | undefined;
  private groups: ContainerGroups | undefined;
  private looking: NodeJS.Timeout | undefined;
  private collectedAt = Date.now();
  /** Why no container can run now; undefined when they can. */
  problem: string | undefined;

  private constructor(
    engine: ContainerEngine,
    images: ImageStore,
    settings: ContainerSettings,
    parts: ContainerParts,
  ) {
    this.engine = engine;
    this.images = images;
    this.settings = settings;
    this.parts = parts;
  }

  /** Looks once for the engine, which may come later. */
  static async open(settings: ContainerSettings, parts: ContainerParts): Promise<ContainerService> {
    const engine = new ContainerEngine(settings.socket);
    const images = await ImageStore.open(engine, parts.workFolder);
    const service = new ContainerService(engine, images, settings, parts);
    service.problem = await service.connect();
    return service;
  }

  /** From now on changes are told. */
  watch(): void {
    this.looking = setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }

  /** Name and version of the engine, for people. */
  get engineText(): string {
    return this.facts === undefined ? 'no engine' : `${this.facts.name} ${this.facts.version}`;
  }

  run(context: TaskContext, input: unknown): Promise<unknown> {
    const { settings, parts, images, engine, groups } = this;
    const host: ContainerHost = {
      ...parts,
      engine,
      groups,
      images,
      rules: settings,
      network: settings.network,
      isRootless: this.facts?.isRootless ?? false,
    };
    return runContainer(host, context, input);
  }

  /** What the containers use; nothing is known where the engine chooses their groups. */
  use(): GroupsUse {
    return this.groups?.use() ?? {};
  }

  /** Names of the containers of this agent that were started; undefined without an engine. */
  async started(): Promise<ReadonlySet<string> | undefined> {
    const found = await this.engine.list(AGENT_LABEL, this.parts.agent).catch(() => undefined);
    if (found === undefined) return undefined;
    return new Set(found.filter(({ wasStarted }) => wasStarted).map(({ name }) => name));
  }

  /** Removes the containers and groups that no attempt owns. */
  async clean(): Promise<void> {
    const { agent, live } = this.parts;
    const found = await this.engine.list(AGENT_LABEL, agent);
    const names = found.map(({ name }) => name);
    for (const name of ownerless(names, live.owned)) await this.engine.remove(name);
    const groups = (await this.groups?.names()) ?? [];
    for (const name of ownerless(groups, live.owned)) await this.groups?.remove(name);
  }

  async stop(): Promise<void> {
    clearTimeout(this.looking);
    this.looking = undefined;
    await this.clean().catch(() => undefined);
    this.groups?.dispose();
    this.engine.close();
  }

  private async look(): Promise<void> {
    const problem = await (this.problem === undefined ? this.ping() : this.connect());
    const wasAway = this.problem !== undefined;
    const hasChanged = wasAway !== (problem !== undefined);
    this.problem = problem;
    if (this.looking === undefined) return;
    if (hasChanged) this.parts.onChange(problem);
    if (problem === undefined) await this.tidyUp(wasAway);
    if (this.looking !== undefined) this.watch();
  }

  private ping(): Promise<string | undefined> {
    return this.engine.ping().then(
      () => undefined,
      (error: Error) => this.away(error),
    );
  }

  private async connect(): Promise<string | undefined> {
    try {
      this.facts = await this.engine.connect();
      this.groups = ContainerGroups.find(this.parts.agent, this.facts.groupDriver);
      return undefined;
    } catch (error) {
      return this.away(error as Error);
    }
  }

  private away({ message }: Error): string {
    return `the container engine at ${this.engine.socketPath} does not answer: ${message}`;
  }

  /** What fails here is tried again at a later look. */
  private async tidyUp(wasAway: boolean): Promise<void> {
    try {
      if (wasAway) await this.clean();
      const isUnderPressure = await this.isDiskFull();
      if (!isUnderPressure && Date.now() - this.collectedAt < COLLECT_EVERY_MS) return;
      this.collectedAt = Date.now();
      await this.images.collect(this.settings.imageAgeMsMax, isUnderPressure);
    } catch {
      // The engine went away again.
    }
  }

  /** Images are where the engine keeps them, which may be another disk. */
  private async isDiskFull(): Promise<boolean> {
    const folder = this.facts?.dataFolder ?? this.parts.workFolder;
    const stats = await statfs(folder).catch(() => statfs(this.parts.workFolder));
    return stats.bavail * stats.bsize < this.parts.reserveMb * MIB;
  }
}
