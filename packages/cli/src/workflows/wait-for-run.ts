import type { Run } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { NoServerError } from '../api/api-errors.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { visible } from '../screen/visible.ts';

/** How long one request waits; the steps that run are shown between two requests. */
const LOOK_EVERY_MS = 1000;
const WAIT_MS = 30_000;
/** How long an unreachable server is waited for. */
const AWAY_MS_MAX = 60_000;

interface WaitOptions {
  readonly timeoutMs?: number | undefined;
  readonly io: CommandIo;
}

export function isOver({ status }: Pick<Run, 'status'>): boolean {
  return status !== 'running' && status !== 'paused';
}

/** Waits until a run has ended or the time is up. The server may restart meanwhile. */
export async function waitForRun(
  api: ApiCaller,
  id: string,
  { timeoutMs = Number.POSITIVE_INFINITY, io }: WaitOptions,
): Promise<Run> {
  const until = performance.now() + timeoutMs;
  const eachMs = io.terminal.isStderr ? LOOK_EVERY_MS : WAIT_MS;
  const path = `/v1/runs/${encodeURIComponent(id)}/wait`;
  let awaySince: number | undefined;
  for (;;) {
    const waitMs = Math.round(Math.max(0, Math.min(eachMs, until - performance.now())));
    try {
      const run = await api.get<Run>(`${path}?timeoutMs=${waitMs}`, ['id', 'status'], waitMs);
      awaySince = undefined;
      const isDone = isOver(run) || performance.now() >= until;
      draw(io, isDone ? '' : progressOf(run));
      if (isDone) return run;
    } catch (cause) {
      if (!(cause instanceof NoServerError)) throw cause;
      awaySince ??= performance.now();
      if (performance.now() - awaySince > AWAY_MS_MAX) throw cause;
      draw(io, 'the server does not answer; waiting for it');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function progressOf({ steps, counts }: Run): string {
  const running = steps.filter(({ state }) => state === 'running');
  const names = running.map(({ reference }) => reference).join(', ');
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const open = (counts.pending ?? 0) + (counts.running ?? 0);
  return `${all - open} of ${all} steps; running: ${names === '' ? 'none' : names}`;
}

function draw({ terminal }: CommandIo, text: string): void {
  if (!terminal.isStderr) return;
  terminal.drawOnStderr(`\r\u001b[K${visible(text).slice(0, terminal.columns - 1)}`);
}

/** 0 when the run succeeded, 1 when it did not or has not ended. */
export function exitOfRun(run: Run, stderr: (text: string) => void): ExitCode {
  if (run.status === 'succeeded') return ExitCode.done;
  const why = run.error === null ? '' : `: ${visible(run.error.message)}`;
  if (isOver(run)) stderr(`${run.id} ${run.status}${why}`);
  else {
    stderr(`sluice: the run has not ended yet; it is ${run.status}`);
    stderr(`'sluice run wait ${run.id}' waits on; 'sluice run explain ${run.id}' says for what`);
  }
  return ExitCode.refused;
}
