import { type Task, TERMINAL } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { NoServerError } from '../api/api-errors.ts';
import type { CommandIo } from '../base/exit-code.ts';
import { visible } from '../screen/visible.ts';
import { progressText } from './task-text.ts';

/** How long one request waits; progress is shown between two requests. */
const LOOK_EVERY_MS = 1000;

/** How long one request waits without a terminal, when there is no progress to show. */
const WAIT_MS = 30_000;

/** How long an unreachable server is waited for. */
const AWAY_MS_MAX = 60_000;

const BAR_COLUMNS = 24;

interface FollowOptions {
  readonly timeoutMs?: number | undefined;
  readonly io: CommandIo;
}

/**
 * Waits until a task has ended or the time is up, and shows its progress meanwhile. The server may
 * restart during the wait.
 */
export async function followTask(
  api: ApiCaller,
  id: string,
  { timeoutMs = Number.POSITIVE_INFINITY, io }: FollowOptions,
): Promise<Task> {
  const until = performance.now() + timeoutMs;
  const eachMs = io.terminal.isStderr ? LOOK_EVERY_MS : WAIT_MS;
  const path = `/v1/tasks/${encodeURIComponent(id)}/wait`;
  let awaySince: number | undefined;
  for (;;) {
    const waitMs = Math.round(Math.max(0, Math.min(eachMs, until - performance.now())));
    try {
      const task = await api.get<Task>(`${path}?timeoutMs=${waitMs}`, ['id', 'state'], waitMs);
      awaySince = undefined;
      const isOver = TERMINAL.includes(task.state) || performance.now() >= until;
      draw(io, isOver ? '' : line(task));
      if (isOver) return task;
    } catch (cause) {
      if (!(cause instanceof NoServerError)) throw cause;
      awaySince ??= performance.now();
      if (performance.now() - awaySince > AWAY_MS_MAX) throw cause;
      draw(io, 'the server does not answer; waiting for it');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** Redraws the line, on a terminal only. */
function draw({ terminal }: CommandIo, text: string): void {
  if (!terminal.isStderr) return;
  terminal.drawOnStderr(`\r\u001b[K${visible(text).slice(0, terminal.columns - 1)}`);
}

function line({ state, progress, attempt }: Task): string {
  if (progress === null) return `${state}${attempt > 1 ? `, attempt ${attempt}` : ''} …`;
  const done = Math.round(progress.fraction * BAR_COLUMNS);
  const bar = '█'.repeat(done) + '░'.repeat(BAR_COLUMNS - done);
  return `${bar} ${progressText(progress)}`;
}
