import { createServer, type Server } from 'node:net';
import type { FolderLock } from './disk.ts';

/**
 * The full length of an abstract socket's name on Linux, its leading NUL included. Node 20 fills
 * shorter names up with NULs and Node 24 does not, so that only a name of full length is the same
 * name, and thus the same lock, for both.
 */
const SOCKET_NAME_LENGTH = 108;

/**
 * Takes the exclusive lock of a folder; undefined while somebody else has it.
 *
 * Node has no `flock`. An abstract Unix socket serves as one: the kernel gives a name to one
 * process only and takes it back the moment that process is gone, however it ended. The name is
 * made of device and inode, so that two paths to one folder are one lock. Its reach is the network
 * namespace: two containers that share a folder do not see each other's lock.
 */
export async function lockBySocket(deviceAndInode: string): Promise<FolderLock | undefined> {
  if (process.platform !== 'linux') {
    throw new Error(`the file log needs Linux for its lock; this is ${process.platform}`);
  }
  const name = `\0sluice:${deviceAndInode}`.padEnd(SOCKET_NAME_LENGTH, '.');
  const server = createServer((connection) => connection.destroy());
  if (!(await listen(server, name))) return undefined;
  // The lock alone must not keep a process alive that has nothing else to do.
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** Answers whether the name was free. */
function listen(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    // Without `exclusive`, the workers of node:cluster would share the name and all hold the lock.
    server.listen({ path, exclusive: true }, () => resolve(true));
  });
}
