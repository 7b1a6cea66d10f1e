import type { Queue, Task, Worker } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { NoServerError } from '../api/api-errors.ts';
import { DURATION, defineCommand } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { type Styles, stylesFor } from '../screen/styles.ts';
import { printable } from '../screen/visible.ts';
import { queueTable } from './queue-commands.ts';
import { connect, durationOf, readList, SERVER_FLAGS, widthOf } from './shared.ts';
import { taskTable } from './task-text.ts';
import { workerTable } from './worker-commands.ts';

const EVERY_MS = 1000;

/** The alternate screen, so that the previous screen is restored at the end. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_REST = '\u001b[J';

export const top = defineCommand({
  name: 'top',
  summary: 'Watch queues, workers and failures live',
  details: 'Ctrl-C stops it. Without a terminal, or with --json, it prints the view once.',
  flags: {
    every: { value: DURATION, help: 'time between updates (default 1s)' },
    once: { help: 'print the view once' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice top', 'sluice top --every 5s'],
  run: async ({ flags }, io) => {
    const api = connect(flags, io);
    const everyMs = Math.max(100, durationOf(flags.every, 'every') ?? EVERY_MS);
    if (flags.json === true) {
      io.stdout(JSON.stringify(await look(api), null, 2));
      return ExitCode.done;
    }
    const isLive = io.terminal.isStdout && flags.once !== true;
    const styles = stylesFor({ isTerminal: isLive, env: io.env });
    if (!isLive) {
      io.stdout(await view(api, styles, { rows: 60, columns: widthOf(io) }));
      return ExitCode.done;
    }
    await watch(api, { io, styles, everyMs });
    return ExitCode.done;
  },
});

interface Watched {
  readonly io: CommandIo;
  readonly styles: Styles;
  readonly everyMs: number;
}

async function watch(api: ApiCaller, { io, styles, everyMs }: Watched): Promise<void> {
  const { terminal, stop } = io;
  // Without a server the command fails before the screen changes.
  let text = await view(api, styles, terminal);
  terminal.drawOnStdout(ENTER);
  try {
    while (!stop.aborted) {
      terminal.drawOnStdout(frame(text, terminal.columns, terminal.rows));
      await pause(everyMs, stop);
      if (!stop.aborted) text = await viewOrWhyNot(api, styles, terminal);
    }
  } finally {
    terminal.drawOnStdout(LEAVE);
  }
}

/**
 * While the server is unreachable, the error is shown in the view's place, until a refresh
 * succeeds.
 */
async function viewOrWhyNot(api: ApiCaller, styles: Styles, size: Size): Promise<string> {
  try {
    return await view(api, styles, size);
  } catch (cause) {
    if (cause instanceof NoServerError) return styles.red(cause.message);
    if ((cause as Error).name === 'AbortError') return '';
    throw cause;
  }
}

interface Sight {
  readonly queues: readonly Queue[];
  readonly workers: readonly Worker[];
  /** The most recent ones. */
  readonly failed: readonly Task[];
}

async function look(api: ApiCaller): Promise<Sight> {
  const query = new URLSearchParams({ state: 'failed' });
  const [queues, workers, failed] = await Promise.all([
    readList<Queue>(api, '/v1/queues'),
    readList<Worker>(api, '/v1/workers'),
    readList<Task>(api, '/v1/tasks', { query, limit: 5 }),
  ]);
  return { queues: queues.items, workers: workers.items, failed: failed.items };
}

interface Size {
  readonly rows: number;
  /** Undefined if nothing is cut. */
  readonly columns: number | undefined;
}

async function view(api: ApiCaller, styles: Styles, size: Size): Promise<string> {
  const { rows, columns } = size;
  const { queues, workers, failed } = await look(api);
  const now = Date.now();
  const busiest = queues.toSorted(byActivity).slice(0, Math.max(5, Math.floor(rows / 3)));
  const sum = (of: (queue: Queue) => number) => queues.reduce((all, each) => all + of(each), 0);
  const figures = [
    `${sum(({ depth }) => depth)} queued`,
    `${sum(({ leased }) => leased)} with workers`,
    `${sum(({ inPerSec }) => inPerSec).toFixed(1)} in/s`,
    `${sum(({ outPerSec }) => outPerSec).toFixed(1)} out/s`,
    `${workers.length} workers`,
    `${sum(({ deadLetters }) => deadLetters)} dead letters`,
  ];
  return [
    `${styles.bold(`Sluice at ${api.url}`)}  ${new Date(now).toISOString()}`,
    figures.join('   '),
    section('queues', busiest.length === 0 ? 'none yet' : queueTable(busiest), styles),
    section('workers', workersText(workers, size), styles),
    section('failed last', failed.length === 0 ? 'none' : taskTable(failed, columns), styles),
  ].join('\n\n');
}

function byActivity(a: Queue, b: Queue): number {
  return activity(b) - activity(a) || (a.type < b.type ? -1 : 1);
}

function activity({ depth, leased, inPerSec, outPerSec }: Queue): number {
  return depth + leased + inPerSec + outPerSec;
}

function workersText(workers: readonly Worker[], { rows, columns }: Size): string {
  if (workers.length === 0) return 'none is connected';
  const shown = workers.slice(0, Math.max(5, Math.floor(rows / 4)));
  const more = workers.length - shown.length;
  return `${workerTable(shown, columns)}${more > 0 ? `\nand ${more} more` : ''}`;
}

function section(title: string, text: string, styles: Styles): string {
  return `${styles.dim(title)}\n${text}`;
}

/** Draws over the previous frame line by line, so that nothing flickers. */
export function frame(text: string, columns: number, rows: number): string {
  const lines = text.split('\n').slice(0, rows - 1);
  const shown = lines.map((line) => printable(cut(line, columns), { hasStyles: true }));
  return HOME + shown.map((line) => line + CLEAR_LINE).join('\r\n') + CLEAR_REST;
}

/** Styles take no room on the screen, and lines with styles are short enough. */
function cut(line: string, columns: number): string {
  return line.includes('\u001b') ? line : line.slice(0, columns);
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
