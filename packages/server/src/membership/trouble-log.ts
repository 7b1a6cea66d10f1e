import type { ServerLog } from '../observation/server-log.ts';

/** Logs when the database stops answering, and when it answers again: once each. */
export function troubleLog(log: ServerLog): (cause: Error | undefined) => void {
  let last = '';
  return (cause) => {
    const message = cause?.message ?? '';
    if (message === last) return;
    last = message;
    if (message === '') log.line('info', 'the database answers again');
    else log.line('warn', 'the database does not answer', { message });
  };
}
