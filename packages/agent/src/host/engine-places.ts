import { existsSync } from 'node:fs';
import { join } from 'node:path';

const DOCKER = '/var/run/docker.sock';
const UNIX = 'unix://';

/** The socket of the engine of this host: the first that is there, else Docker's. */
export function defaultSocket(env: NodeJS.ProcessEnv = process.env): string {
  const { DOCKER_HOST: host = '', XDG_RUNTIME_DIR: runtime = '' } = env;
  if (host.startsWith(UNIX)) return host.slice(UNIX.length);
  const own =
    runtime === '' ? [] : [join(runtime, 'docker.sock'), join(runtime, 'podman/podman.sock')];
  const places = [DOCKER, ...own, '/run/podman/podman.sock'];
  return places.find((path) => existsSync(path)) ?? DOCKER;
}
