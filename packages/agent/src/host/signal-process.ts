/** Sends a signal to a process or, with a negative number, to its group, if it is still there. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  // 0 stands for this process and its group.
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
