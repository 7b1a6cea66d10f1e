import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerEngine } from './docker-engine.ts';
import { PodmanEngine } from './podman-engine.ts';

interface Engine {
  readonly name: string;
  /** The environment variable that says why tests with this engine cannot run. */
  readonly variable: string;
  readonly start: (folder: string) => Promise<{ stop(): Promise<void> }>;
}

export const DOCKER: Engine = {
  name: 'Docker',
  variable: 'SLUICE_NO_ENGINE',
  start: (folder) => DockerEngine.start(folder),
};

export const PODMAN: Engine = {
  name: 'Podman',
  variable: 'SLUICE_NO_PODMAN',
  start: (folder) => PodmanEngine.start(folder),
};

/** Tries the container engines. Says in the environment, and returns, why one cannot start. */
export async function probeEngines(): Promise<string[]> {
  const problems: string[] = [];
  for (const engine of [DOCKER, PODMAN]) {
    const problem = await problemOf(engine);
    if (problem === undefined) continue;
    process.env[engine.variable] = problem;
    problems.push(`${engine.name}: ${problem}`);
  }
  return problems;
}

/** Why an engine cannot be started here; undefined when it can. */
async function problemOf({ start }: Engine): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-engine-'));
  try {
    const engine = await start(join(folder, 'engine'));
    await engine.stop();
    return undefined;
  } catch (error) {
    const { message, cause } = error as Error;
    return `${message.trim()} ${cause instanceof Error ? cause.message : ''}`.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
