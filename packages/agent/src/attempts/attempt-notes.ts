import type { TaskContext } from '@sluice/sdk';
import type { AttemptFolder } from '../host/work-folder.ts';
import type { AttemptRecord } from '../logic/attempt-record.ts';
import type { LiveAttempt } from '../logic/live-attempts.ts';

/** File of an attempt's folder that says what it is. */
export const RECORD_FILE = 'record.json';

/** Writes down what an agent that starts later has to know. Before the program is started. */
export function record(
  folder: AttemptFolder,
  { id, type, attempt, lease, resources, exec }: TaskContext,
  { name, gpus }: LiveAttempt,
): void {
  const task = { id, type, attempt, lease, resources, exec };
  const entry: AttemptRecord = { name, task, gpus, startedAt: Date.now() };
  folder.note(RECORD_FILE, JSON.stringify(entry));
}

/** Where a run tells what it sees. */
export function portsOf(context: TaskContext, live: LiveAttempt) {
  return {
    log: (line: string) => void context.log(line),
    onWritten: (bytes: number) => {
      live.writtenBytes = bytes;
    },
  };
}
