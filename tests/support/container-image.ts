/** A small image for tests: static busybox, made here because none can be downloaded. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Makes an archive of the files of the image below `folder`, and returns its path. */
export async function packBusybox(folder: string): Promise<string> {
  const root = join(folder, 'image-root');
  await mkdir(join(root, 'bin'), { recursive: true });
  await mkdir(join(root, 'etc'));
  await mkdir(join(root, 'tmp'), { mode: 0o777 });
  const { stdout: busybox } = await execute('sh', ['-c', 'command -v busybox']);
  await copyFile(busybox.trim(), join(root, 'bin/busybox'));
  const { stdout: applets } = await execute('busybox', ['--list']);
  for (const applet of applets.trim().split('\n')) {
    if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
  }
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nmedia:x:7:7::/:/bin/sh\n');
  const archive = join(folder, 'image.tar');
  await execute('tar', ['-C', root, '-cf', archive, '.']);
  return archive;
}
