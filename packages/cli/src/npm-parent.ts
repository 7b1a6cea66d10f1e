/**
 * Ends a command together with the npm that started it.
 *
 * npm starts commands in a shell and passes SIGTERM on to that shell, which ends without passing it
 * on to the command. A server started by `npx` would stay, with its port and its data folder.
 */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 200;

/**
 * Calls `stop` once when the shell that npm started for `event` has ended. Does nothing for other
 * parents: a server that was sent to the background stays when its shell ends.
 */
export function stopWithNpm(event: string, stop: () => void): void {
  const shell = process.ppid;
  if (process.env.npm_lifecycle_event !== event || !isChildOfNpm(shell)) return;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    stop();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/**
 * The variable alone would not do, because programs that npm started pass it on to what they start.
 */
function isChildOfNpm(shell: number): boolean {
  try {
    const [, parent] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${shell}/status`, 'utf8')) ?? [];
    return readFileSync(`/proc/${parent}/cmdline`, 'utf8').startsWith('npm ');
  } catch {
    // Only Linux has these files. Elsewhere a signal to npm leaves the command running.
    return false;
  }
}
