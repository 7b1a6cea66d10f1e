import type { ContainerExec } from '@sluice/protocol';
import { plainVariables } from './secrets.ts';

const MIB = 2 ** 20;
const NANO = 1e9;

/** Where a container finds its folders. */
const CONTAINER_WORK = '/sluice/work';
const CONTAINER_IO = '/sluice/io';

/** The log of the engine is only a buffer: the lines go to the server. */
const LOG = { Type: 'json-file', Config: { 'max-size': '8m', 'max-file': '2' } };

/** A container as one attempt runs it. */
export interface ContainerPlan {
  /** Names the folder, the group and the container of the attempt. */
  readonly name: string;
  /** Names the agent that the container belongs to. */
  readonly agent: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly exec: ContainerExec;
  /** Folders of the attempt on the host. */
  readonly work: string;
  readonly io: string;
  /** The folder that the image states; empty when it states none. */
  readonly imageWorkdir: string;
  readonly network: string;
  /** `uid:gid`; undefined for that of the image. */
  readonly user: string | undefined;
  readonly limits: { readonly cpu?: number; readonly memoryMb?: number; readonly pids: number };
  readonly gpus: readonly string[];
  /** The control group above the container; undefined where the engine chooses. */
  readonly groupPath: string | undefined;
}

/** Labels by which an agent finds its containers again. */
export const AGENT_LABEL = 'sluice.agent';
const ATTEMPT_LABEL = 'sluice.attempt';

/** What the engine is asked to make. */
export function containerSpec(plan: ContainerPlan): object {
  const { exec, name, agent, taskId, attempt } = plan;
  const hasStdin = exec.stdin !== undefined;
  return {
    Image: exec.image,
    Env: Object.entries(variablesOf(plan)).map(([key, value]) => `${key}=${value}`),
    Labels: { [AGENT_LABEL]: agent, [ATTEMPT_LABEL]: name, 'sluice.task': taskId },
    WorkingDir: exec.workdir ?? (plan.imageWorkdir === '' ? CONTAINER_WORK : plan.imageWorkdir),
    OpenStdin: hasStdin,
    StdinOnce: hasStdin,
    AttachStdin: hasStdin,
    Tty: false,
    ...(exec.args === undefined ? {} : { Cmd: exec.args }),
    ...(exec.entrypoint === undefined ? {} : { Entrypoint: exec.entrypoint }),
    // A host name must not be longer than 63 characters.
    Hostname: `${taskId.replaceAll('_', '-')}-${attempt}`,
    ...(plan.user === undefined ? {} : { User: plan.user }),
    HostConfig: hostConfig(plan),
  };
}

function hostConfig({ exec, work, io, network, limits, gpus, groupPath }: ContainerPlan): object {
  const { cpu = 0, memoryMb = 0, pids } = limits;
  const memory = Math.ceil(memoryMb * MIB);
  const own = [
    { Type: 'bind', Source: work, Target: CONTAINER_WORK },
    { Type: 'bind', Source: io, Target: CONTAINER_IO },
  ];
  return {
    NetworkMode: network,
    Mounts: [...own, ...(exec.volumes ?? []).map(mountOf)],
    PidsLimit: pids,
    // A container with less memory than this cannot be started by every engine.
    ...(memory === 0 ? {} : { Memory: memory, MemorySwap: memory }),
    ...(cpu === 0 ? {} : { NanoCpus: Math.round(cpu * NANO) }),
    ...(exec.shmMb === undefined ? {} : { ShmSize: exec.shmMb * MIB }),
    ReadonlyRootfs: exec.readOnly ?? false,
    Privileged: exec.privileged ?? false,
    SecurityOpt: exec.privileged === true ? [] : ['no-new-privileges'],
    Devices: (exec.devices ?? []).map((path) => {
      return { PathOnHost: path, PathInContainer: path, CgroupPermissions: 'rwm' };
    }),
    DeviceRequests: gpus.length === 0 ? [] : [gpuRequest(exec, gpus)],
    LogConfig: LOG,
    RestartPolicy: { Name: 'no' },
    ...(groupPath === undefined ? {} : { CgroupParent: groupPath }),
  };
}

function mountOf({ source, target, readOnly = false }: Volume): object {
  const Type = source.startsWith('/') ? 'bind' : 'volume';
  return { Type, Source: source, Target: target, ReadOnly: readOnly };
}

type Volume = NonNullable<ContainerExec['volumes']>[number];

function gpuRequest({ gpus }: ContainerExec, indexes: readonly string[]): object {
  return {
    Driver: gpus?.driver ?? 'nvidia',
    DeviceIDs: indexes,
    Capabilities: [gpus?.capabilities ?? ['gpu']],
  };
}

function variablesOf({ exec, taskId, attempt }: ContainerPlan): Record<string, string> {
  return {
    ...plainVariables(exec.env ?? {}),
    SLUICE_TASK_ID: taskId,
    SLUICE_ATTEMPT: String(attempt),
    SLUICE_WORK: CONTAINER_WORK,
    SLUICE_INPUT: `${CONTAINER_IO}/input.json`,
    SLUICE_RESULT: `${CONTAINER_IO}/result.json`,
  };
}
