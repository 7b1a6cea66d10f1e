import { LogFrames } from '../logic/log-frames.ts';
import { type PullLine, PullProgress } from '../logic/pull-progress.ts';
import { imagePlace, type RegistryAuth, registryHeader } from '../logic/registry.ts';
import { EngineError, EngineSocket } from './engine-socket.ts';

/** The newest version of the API that this client was tested with. */
const API_MAX = 47;
const API_MIN = 40;

/** How long an engine may take to say that it is there. */
const PING_MS = 5000;

export interface EngineFacts {
  readonly name: string;
  readonly version: string;
  /** Who makes the control groups; `cgroupfs` takes any path. */
  readonly groupDriver: string;
  /** Where it keeps images; the host may not be this one. */
  readonly dataFolder: string | undefined;
  /** It runs as an ordinary user, and so do all users in its containers. */
  readonly isRootless: boolean;
}

export interface ImageFacts {
  readonly id: string;
  readonly workdir: string;
}

export interface ContainerFacts {
  readonly wasStarted: boolean;
  readonly wasOutOfMemory: boolean;
  /** Bytes that it wrote into its own files, if asked for. */
  readonly writtenBytes: number;
}

export interface FoundContainer {
  readonly name: string;
  readonly wasStarted: boolean;
}

export interface PullOptions {
  readonly auth: RegistryAuth | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}

export type OutputListener = (bytes: Uint8Array, isError: boolean) => void;

export interface LogOptions {
  /** Only what came after this; in milliseconds since 1970. */
  readonly sinceMs: number;
  readonly onBytes: OutputListener;
}

/** The streams of a container. */
export interface Attached {
  /** Whether the output came to its end; false when the connection broke. */
  readonly ended: Promise<boolean>;
  /** Writes to the standard input and ends it. After the start: earlier it may be lost. */
  readonly feed: (text: string) => void;
  readonly close: () => void;
}

/**
 * The part of the Docker Engine API that an agent needs. Podman's socket speaks it too.
 *
 * Containers are called by their names: a name is known before the engine has answered, so what an
 * answer that got lost would leave behind can be found.
 */
export class ContainerEngine {
  private readonly socket: EngineSocket;
  private prefix = '';

  constructor(socketPath: string) {
    this.socket = new EngineSocket(socketPath);
  }

  get socketPath(): string {
    return this.socket.path;
  }

  /** Agrees on a version of the API. Rejects when no engine answers. */
  async connect(): Promise<EngineFacts> {
    const signal = AbortSignal.timeout(PING_MS);
    const version = await this.socket.json<VersionAnswer>({ ...get('/version'), signal });
    const [, minor] = String(version.ApiVersion).split('.').map(Number);
    if (minor === undefined || !(minor >= API_MIN)) {
      throw new EngineError(400, `the engine speaks version ${version.ApiVersion}; 1.40 is needed`);
    }
    this.prefix = `/v1.${Math.min(minor, API_MAX)}`;
    const info = await this.socket.json<InfoAnswer>({ ...this.get('/info'), signal });
    const [engine] = version.Components ?? [];
    return {
      name: engine?.Name === 'Podman Engine' ? 'podman' : 'docker',
      version: String(version.Version),
      groupDriver: info.CgroupDriver ?? '',
      dataFolder: info.DockerRootDir,
      isRootless: (info.SecurityOptions ?? []).some((option) => option.includes('rootless')),
    };
  }

  async ping(): Promise<void> {
    const signal = AbortSignal.timeout(PING_MS);
    await this.socket.stream({ ...get('/_ping'), signal }, () => undefined);
  }

  /** Undefined when the image is not here. */
  async image(name: string): Promise<ImageFacts | undefined> {
    const found = await this.found<ImageAnswer>(`/images/${name}/json`);
    if (found === undefined) return undefined;
    return { id: found.Id, workdir: found.Config?.WorkingDir ?? '' };
  }

  async pull(image: string, { auth, signal, onProgress }: PullOptions): Promise<void> {
    const { name, tag } = imagePlace(image);
    const query = new URLSearchParams({ fromImage: name, tag });
    const progress = new PullProgress();
    let open = '';
    let problem: string | undefined;
    const headers = auth === undefined ? {} : { 'x-registry-auth': registryHeader(auth) };
    const call = { ...this.post(`/images/create?${query}`), headers, signal };
    await this.socket.stream(call, (bytes) => {
      const lines = (open + Buffer.from(bytes).toString()).split('\n');
      open = lines.pop() ?? '';
      for (const line of lines.filter((each) => each.trim() !== '')) {
        const said = JSON.parse(line) as PullLine;
        problem ??= said.error;
        progress.add(said);
      }
      onProgress(progress);
    });
    // The status of the answer is sent before the engine knows how the pull ends.
    if (problem !== undefined) throw new EngineError(500, problem);
  }

  async create(name: string, spec: object): Promise<void> {
    const query = new URLSearchParams({ name });
    await this.socket.json({ ...this.post(`/containers/create?${query}`), body: spec });
  }

  async start(name: string): Promise<void> {
    await this.socket.json(this.post(`/containers/${name}/start`));
  }

  /** Resolves with the exit code of a container that was started, when it has ended. */
  async wait(name: string): Promise<number> {
    const call = { ...this.post(`/containers/${name}/wait`), silenceMs: 0 };
    const answer = await this.socket.json<{ StatusCode: number } | undefined>(call);
    // The head of the answer comes at once; an engine that crashes later sends no more.
    if (answer === undefined) throw new EngineError(0, 'its answer broke off');
    return answer.StatusCode;
  }

  /** The output from its beginning to the end of the container. */
  async logs(name: string, { sinceMs, onBytes }: LogOptions): Promise<void> {
    const since = sinceMs === 0 ? {} : { since: (sinceMs / 1000).toFixed(3) };
    const query = new URLSearchParams({ follow: '1', stdout: '1', stderr: '1', ...since });
    const frames = new LogFrames(onBytes);
    const call = this.get(`/containers/${name}/logs?${query}`);
    await this.socket.stream(call, (bytes) => frames.push(bytes));
  }

  /**
   * Listens to a container that is not started yet. Unlike the log, this misses nothing: the end of
   * a log that is followed may come before its last line.
   */
  async attach(name: string, hasInput: boolean, onBytes: OutputListener): Promise<Attached> {
    const query = new URLSearchParams({
      stream: '1',
      stdout: '1',
      stderr: '1',
      stdin: hasInput ? '1' : '0',
    });
    const socket = await this.socket.upgrade(this.post(`/containers/${name}/attach?${query}`));
    const frames = new LogFrames(onBytes);
    socket.on('data', (bytes: Uint8Array) => frames.push(bytes));
    const ended = new Promise<boolean>((resolve) => {
      socket.once('end', () => resolve(true));
      // A program that does not read its input, or an engine that is gone, breaks it.
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
    });
    return {
      ended,
      feed: (text) => socket.write(text, () => socket.end()),
      close: () => socket.destroy(),
    };
  }

  /** Sends a signal. A container that has ended, or is not there, is fine. */
  async kill(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.socket.json(this.post(`/containers/${name}/kill?signal=${signal}`)).catch(gone);
  }

  /** Undefined when there is no such container. */
  async inspect(name: string, withSize = false): Promise<ContainerFacts | undefined> {
    const found = await this.found<InspectAnswer>(`/containers/${name}/json?size=${withSize}`);
    if (found === undefined) return undefined;
    const { Status, OOMKilled } = found.State;
    const writtenBytes = found.SizeRw ?? 0;
    return { wasStarted: Status !== 'created', wasOutOfMemory: OOMKilled, writtenBytes };
  }

  /** Ends and removes a container, with the volumes that have no name. */
  async remove(name: string): Promise<void> {
    const path = `${this.prefix}/containers/${name}?force=1&v=1`;
    await this.socket.json({ method: 'DELETE', path }).catch(gone);
  }

  /** All containers with a label, also those that have ended. */
  async list(label: string, value: string): Promise<FoundContainer[]> {
    const filters = JSON.stringify({ label: [`${label}=${value}`] });
    const query = new URLSearchParams({ all: '1', filters });
    const found = await this.socket.json<ListAnswer[]>(this.get(`/containers/json?${query}`));
    return found.map(({ Names, State }) => {
      return { name: (Names[0] ?? '').slice(1), wasStarted: State !== 'created' };
    });
  }

  /** Returns whether the image is gone: one that something uses stays. */
  async removeImage(name: string): Promise<boolean> {
    const path = `${this.prefix}/images/${name}`;
    await this.socket.json({ method: 'DELETE', path }).catch(gone);
    return (await this.image(name)) === undefined;
  }

  close(): void {
    this.socket.close();
  }

  private async found<T>(path: string): Promise<T | undefined> {
    try {
      return await this.socket.json<T>(this.get(path));
    } catch (error) {
      if (error instanceof EngineError && error.status === 404) return undefined;
      throw error;
    }
  }

  private get(path: string) {
    return get(this.prefix + path);
  }

  private post(path: string) {
    return { method: 'POST', path: this.prefix + path } as const;
  }
}

function get(path: string) {
  return { method: 'GET', path } as const;
}

/** Not there, or in a state in which there is nothing left to do. */
function gone(error: unknown): void {
  const isGone = error instanceof EngineError && (error.status === 404 || error.status === 409);
  if (!isGone) throw error;
}

interface VersionAnswer {
  readonly ApiVersion: string;
  readonly Version: string;
  readonly Components?: readonly { readonly Name: string }[];
}

interface InfoAnswer {
  readonly CgroupDriver?: string;
  readonly DockerRootDir?: string;
  readonly SecurityOptions?: readonly string[];
}

interface ImageAnswer {
  readonly Id: string;
  readonly Config?: { readonly WorkingDir?: string };
}

interface InspectAnswer {
  readonly State: {
    readonly Status: string;
    readonly OOMKilled: boolean;
  };
  readonly SizeRw?: number;
}

interface ListAnswer {
  readonly Names: readonly string[];
  readonly State: string;
}
