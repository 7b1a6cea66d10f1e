import type { ServerLog } from '../observation/server-log.ts';

/** Logs when the database stops answering, and when it answers again: once each. */
export function troubleLog(log: ServerLog): (cause: Error | undefined) => void {
  let last = '';
  return (cause) => {
    const problem = cause?.message ?? '';
    if (problem === last) return;
    last = problem;
    if (problem === '') log.line('info', 'the database answers again');
    else log.line('warn', 'the database does not answer', { cause: problem });
  };
}
