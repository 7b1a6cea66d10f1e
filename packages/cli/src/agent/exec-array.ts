/** `sluice exec --array`: the same command for each element, and one summary of all. */
import { randomUUID } from 'node:crypto';
import type { Task } from '../api/answers.ts';
import { ApiCaller } from '../api/api-caller.ts';
import { NoServerError } from '../api/api-errors.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { errorText } from '../commands/task-text.ts';
import { ProgressLine } from '../screen/progress-line.ts';
import { visible } from '../screen/visible.ts';
import { commandFor } from './array-elements.ts';

/** Tasks in one request, and ids in one wait. */
const BATCH = 500;
const WAIT_MS = 1000;
const AWAY_MS_MAX = 60_000;
const CANCEL_MS_MAX = 15_000;
const INTERRUPTED = 130;
/** Failures that the summary lists. */
const LISTED_MAX = 20;

/** The tag that all tasks of one call have. */
const TAG = 'array';

export interface ArrayCall {
  readonly api: ApiCaller;
  readonly io: CommandIo;
  readonly url: string | undefined;
  readonly elements: readonly string[];
  /** The body of a task; its command gets the element. */
  readonly body: {
    readonly exec: { readonly command?: readonly string[]; readonly args?: readonly string[] };
    readonly tags?: Readonly<Record<string, string>>;
  };
  readonly isDetached: boolean;
  readonly isJson: boolean;
}

interface Ended {
  readonly element: string;
  readonly task: Task;
}

export async function execArray(call: ArrayCall): Promise<number> {
  const { api, io, isDetached, isJson } = call;
  const array = randomUUID().slice(0, 8);
  const elements = new Map<string, string>();
  io.askFirst(
    'press Ctrl-C again to cancel all commands that have not ended; they go on until then',
  );
  try {
    for (let at = 0; at < call.elements.length; at += BATCH) {
      const part = call.elements.slice(at, at + BATCH);
      const bodies = part.map((element, index) =>
        bodyFor(call, { element, array, at: at + index }),
      );
      const { items } = await api.post<{ items: { id: string }[] }>('/v1/tasks', ['items'], bodies);
      items.forEach(({ id }, index) => {
        elements.set(id, part[index]);
      });
    }
    if (isDetached) {
      if (isJson) io.stdout(JSON.stringify({ array, ids: [...elements.keys()] }));
      else io.stdout(`${TAG}=${array}`);
      return ExitCode.done;
    }
    return await untilAllEnd(call, elements);
  } catch (cause) {
    if (!io.stop.aborted) throw cause;
    return cancelled(call, array);
  }
}

function bodyFor(
  { body }: ArrayCall,
  { element, array, at }: { element: string; array: string; at: number },
): object {
  const { command, args } = body.exec;
  const words =
    command === undefined
      ? { args: commandFor(args ?? [], element) }
      : { command: commandFor(command, element) };
  return {
    ...body,
    exec: { ...body.exec, ...words },
    tags: { ...body.tags, [TAG]: array },
    dedupeKey: `cli.${array}.${at}`,
  };
}

/** Prints what each command wrote when it ends, and lists the failures at the end. */
async function untilAllEnd(call: ArrayCall, elements: Map<string, string>): Promise<number> {
  const { io, isJson } = call;
  const line = new ProgressLine(io.terminal);
  const open = new Set(elements.keys());
  const ended: Ended[] = [];
  const failed: Ended[] = [];
  let lost = 0;
  let awaySince: number | undefined;
  while (open.size > 0) {
    line.show(progressOf(elements.size, ended.length, failed.length));
    try {
      const { items, unknown } = await nextEnds(call, open);
      // Retention may have removed a task that ended long ago.
      for (const id of unknown) if (open.delete(id)) lost += 1;
      for (const task of items) {
        const end = { element: elements.get(task.id) ?? '', task };
        open.delete(task.id);
        ended.push(end);
        if (task.state !== 'succeeded') failed.push(end);
        line.clear();
        if (!isJson) await printLines(call, task.id);
      }
      awaySince = undefined;
    } catch (cause) {
      if (!(cause instanceof NoServerError) || io.stop.aborted) throw cause;
      awaySince ??= performance.now();
      if (performance.now() - awaySince > AWAY_MS_MAX) throw cause;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  line.clear();
  if (isJson) {
    io.stdout(
      JSON.stringify(
        ended.map(({ element, task }) => ({ element, task })),
        null,
        2,
      ),
    );
  }
  if (lost > 0) io.stderr(`sluice: the server no longer knows ${lost} of the commands`);
  summarize(io, elements.size - lost, failed);
  return failed.length + lost === 0 ? ExitCode.done : ExitCode.refused;
}

/** Tasks that ended. The oldest ones are asked for: they end first. */
function nextEnds({ api }: ArrayCall, open: ReadonlySet<string>): Promise<Ends> {
  const body = { ids: [...open].slice(0, BATCH), timeoutMs: WAIT_MS };
  return api.post<Ends>('/v1/tasks/wait', ['items', 'unknown'], body);
}

interface Ends {
  readonly items: readonly Task[];
  readonly unknown: readonly string[];
}

async function printLines({ api, io }: ArrayCall, id: string): Promise<void> {
  const path = `/v1/tasks/${encodeURIComponent(id)}/logs?limit=1000`;
  const { items } = await api.get<{ items: { line: string }[] }>(path, ['items']);
  for (const { line } of items) io.stdout(visible(line));
}

function progressOf(all: number, ended: number, failed: number): string {
  const bad = failed === 0 ? '' : `, ${failed} failed`;
  return `${ended} of ${all} done (${Math.floor((100 * ended) / all)} %)${bad}`;
}

function summarize(io: CommandIo, all: number, failed: readonly Ended[]): void {
  if (failed.length === 0) {
    io.stderr(`all ${all} commands succeeded`);
    return;
  }
  io.stderr(`${failed.length} of ${all} commands did not succeed:`);
  for (const { element, task } of failed.slice(0, LISTED_MAX)) {
    const why = task.error === null ? task.state : `${task.state}: ${errorText(task.error)}`;
    io.stderr(`  ${visible(element)}  ${task.id}  ${why}`);
  }
  const more = failed.length - LISTED_MAX;
  if (more > 0) io.stderr(`  and ${more} more`);
}

async function cancelled({ io, url }: ArrayCall, array: string): Promise<number> {
  // The calls of the command line itself end with the first signal.
  const api = new ApiCaller({ url, env: io.env, signal: AbortSignal.timeout(CANCEL_MS_MAX) });
  io.stderr('cancelling all commands that have not ended; signal again to leave them');
  const body = { filter: { tags: { [TAG]: array } } };
  try {
    const { matched } = await api.post<{ matched: number }>('/v1/tasks/cancel', ['matched'], body);
    io.stderr(matched === 1 ? '1 command is cancelled' : `${matched} commands are cancelled`);
  } catch (cause) {
    io.stderr(`sluice: cannot cancel them: ${(cause as Error).message}`);
  }
  return INTERRUPTED;
}
