import { realpath } from 'node:fs/promises';
import type { ContainerExec } from '@sluice/protocol';
import type { TaskContext } from '@sluice/sdk';
import { addFiles, outputOf } from '../attempts/attempt-files.ts';
import { portsOf, record } from '../attempts/attempt-notes.ts';
import type { BlobServer } from '../attempts/blob-transfer.ts';
import { graceOf } from '../attempts/kill-grace.ts';
import { notedOutcome } from '../attempts/noted-outcome.ts';
import { errorOf, refusal } from '../attempts/refusal.ts';
import type { ContainerEngine, ImageFacts } from '../engine/container-engine.ts';
import type { ContainerGroups } from '../host/container-groups.ts';
import { ownUser } from '../host/users.ts';
import { AttemptFolder } from '../host/work-folder.ts';
import { failureOf } from '../logic/command-end.ts';
import { type ContainerRules, containerProblem } from '../logic/container-rules.ts';
import type { ContainerPlan } from '../logic/container-spec.ts';
import type { LiveAttempt, LiveAttempts } from '../logic/live-attempts.ts';
import { readContainer } from '../logic/read-exec.ts';
import { type ContainerResult, ContainerRun } from './container-run.ts';
import type { ImageStore } from './image-store.ts';

export interface ContainerHost {
  readonly engine: ContainerEngine;
  readonly groups: ContainerGroups | undefined;
  readonly images: ImageStore;
  readonly workFolder: string;
  /** Names the agent in the labels of its containers. */
  readonly agent: string;
  readonly rules: ContainerRules;
  /** For containers that state none. */
  readonly network: string;
  readonly pidsMax: number;
  readonly diskMb: number;
  /** Users in containers are users of the agent, so it may remove what they made. */
  readonly isRootless: boolean;
  readonly blobs: BlobServer;
  readonly live: LiveAttempts;
}

/** Runs the container of one attempt. Returns the output of its task. */
export function runContainer(
  host: ContainerHost,
  context: TaskContext,
  input: unknown,
): Promise<unknown> {
  return host.live.with(context, async (live) => {
    const folder = new AttemptFolder(host.workFolder, live.name);
    live.cleanUp = async () => {
      // What an engine that is away leaves behind is removed when it is back.
      await host.engine.remove(live.name).catch(() => undefined);
      await host.groups?.remove(live.name);
      await folder.remove();
    };
    const asked = readContainer(context.exec);
    if ('problem' in asked) throw refusal('bad_exec', asked.problem);
    const exec = await withRealFolders(asked);
    checkRules(host, exec);
    const result = await notedOutcome(folder, live.adopted !== undefined, () => {
      return resultOf(host, context, { exec, folder, live, input });
    });
    return outcomeOf(host, context, { exec, folder, result });
  });
}

interface Asked {
  readonly exec: ContainerExec;
  readonly folder: AttemptFolder;
  readonly live: LiveAttempt;
  readonly input: unknown;
}

function resultOf(
  host: ContainerHost,
  context: TaskContext,
  { exec, folder, live, input }: Asked,
): Promise<ContainerResult> {
  const { signal } = context;
  const make = (image: ImageFacts) => {
    const plan = planOf(host, context, { exec, image, folder, live });
    const ports = { ...host, ...portsOf(context, live) };
    return new ContainerRun(plan, folder, limitsOf(host, context, exec), ports);
  };
  if (live.adopted !== undefined) return make(UNKNOWN_IMAGE).adopt(signal, live.adopted.startedAt);
  return host.images.with(exec, context, async (image) => {
    await folder.makeForContainer(input);
    await addFiles(host.blobs, folder.work, exec.files ?? {}, { mode: 0o644 });
    record(folder, context, live);
    return make(image).run(signal);
  });
}

/** The container of an adopted attempt is made already. */
const UNKNOWN_IMAGE: ImageFacts = { id: '', workdir: '' };

function limitsOf({ diskMb }: ContainerHost, { resources }: TaskContext, exec: ContainerExec) {
  return {
    diskMb: resources.diskMb ?? diskMb,
    killGraceMs: (reason: unknown) => graceOf(reason, exec.killGraceMs),
  };
}

interface Ended {
  readonly exec: ContainerExec;
  readonly folder: AttemptFolder;
  readonly result: ContainerResult;
}

async function outcomeOf(
  { blobs }: ContainerHost,
  context: TaskContext,
  { exec, folder, result }: Ended,
): Promise<unknown> {
  context.usage(result.usage);
  if (context.signal.aborted) throw context.signal.reason;
  if (result.wasEngineLost && result.exitCode !== 0) throw errorOf(ENGINE_ENDED);
  const failure = failureOf(result, exec.image, context.resources, exec.retryableExitCodes);
  if (failure !== undefined) throw errorOf(failure);
  return outputOf(blobs, folder, exec, result.lastLine);
}

/** The end of the engine ends its containers, which says nothing about the program. */
const ENGINE_ENDED = {
  code: 'engine_unavailable',
  message: 'the container engine went away while the container ran',
  isRetryable: true,
};

/** Follows the links in folders of the host, so that what is checked is what is mounted. */
async function withRealFolders(exec: ContainerExec): Promise<ContainerExec> {
  if (exec.volumes === undefined) return exec;
  const volumes = await Promise.all(
    exec.volumes.map(async (volume) => {
      const { source } = volume;
      if (!source.startsWith('/')) return volume;
      const real = await realpath(source).catch(() => undefined);
      if (real !== undefined) return { ...volume, source: real };
      throw refusal('mount_missing', `the host has no folder ${source}`);
    }),
  );
  return { ...exec, volumes };
}

function checkRules({ rules, isRootless }: ContainerHost, exec: ContainerExec): void {
  const problem = containerProblem(exec, rules);
  if (problem !== undefined) throw refusal('container_not_allowed', problem);
  const own = ownUser();
  if (own.uid === 0 || isRootless || exec.user === undefined) return;
  if ([`${own.uid}`, `${own.uid}:${own.gid}`].includes(exec.user)) return;
  const why = `could not remove what the user '${exec.user}' of a container leaves behind`;
  throw refusal('user_not_allowed', `the agent runs as '${own.name}' and ${why}`);
}

interface Parts {
  readonly exec: ContainerExec;
  readonly image: ImageFacts;
  readonly folder: AttemptFolder;
  readonly live: LiveAttempt;
}

function planOf(
  host: ContainerHost,
  { id, attempt, resources: { cpu, memoryMb } }: TaskContext,
  { exec, image, folder, live }: Parts,
): ContainerPlan {
  const { name } = live;
  return {
    name,
    agent: host.agent,
    taskId: id,
    attempt,
    exec,
    work: folder.work,
    io: folder.io,
    imageWorkdir: image.workdir,
    network: exec.network ?? host.network,
    user: exec.user ?? defaultUser(host),
    limits: {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memoryMb === undefined ? {} : { memoryMb }),
      pids: host.pidsMax,
    },
    gpus: [...new Set(live.gpus)],
    groupPath: host.groups?.path(name),
  };
}

/** An agent that is not root could not remove the files of another user. */
function defaultUser({ isRootless }: ContainerHost): string | undefined {
  const { uid, gid } = ownUser();
  return uid === 0 || isRootless ? undefined : `${uid}:${gid}`;
}
