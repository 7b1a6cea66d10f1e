import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';

export interface HostUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** The user of this process. */
export function ownUser(): HostUser {
  const { username, uid, gid, homedir } = userInfo();
  return { name: username, uid, gid, home: homedir };
}

/** Undefined when the host has no such user. */
export async function findUser(name: string): Promise<HostUser | undefined> {
  const text = await readFile('/etc/passwd', 'utf8');
  const line = text.split('\n').find((each) => each.startsWith(`${name}:`));
  if (line === undefined) return undefined;
  const [, , uid, gid, , home = '/'] = line.split(':');
  return { name, uid: Number(uid), gid: Number(gid), home };
}

/** Whether a user may pass through a folder. Only root can ask for others. */
export function canEnter(folder: string, { uid, gid }: HostUser): Promise<boolean> {
  const args = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', 'test', '-x', folder];
  return new Promise((resolve) => execFile('setpriv', args, (error) => resolve(error === null)));
}
