import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { FolderInUseError } from './log-errors.ts';

/**
 * The full length of an abstract socket's name on Linux, its leading NUL included. Node 20 fills
 * shorter names up with NULs and Node 24 does not, so that only a name of full length is the same
 * name, and thus the same lock, for both.
 */
const SOCKET_NAME_LENGTH = 108;

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Takes the exclusive lock of a folder, or throws `FolderInUseError`.
 *
 * Node has no `flock`. An abstract Unix socket serves as one: the kernel gives a name to one
 * process only and takes it back the moment that process is gone, however it ended. The name is
 * made of device and inode, so that two paths to one folder are one lock. Its reach is the network
 * namespace: two containers that share a folder do not see each other's lock.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  if (process.platform !== 'linux') {
    throw new Error(`the file log needs Linux for its lock; this is ${process.platform}`);
  }
  const { dev, ino } = await stat(folder, { bigint: true });
  const name = `\0sluice:${dev}:${ino}`.padEnd(SOCKET_NAME_LENGTH, '.');
  const server = createServer((connection) => connection.destroy());
  await listen(server, name, folder);
  // The lock alone must not keep a process alive that has nothing else to do.
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

function listen(server: Server, path: string, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new FolderInUseError(folder, { cause: error }) : error);
    });
    // Without `exclusive`, the workers of node:cluster would share the name and all hold the lock.
    server.listen({ path, exclusive: true }, () => resolve());
  });
}
