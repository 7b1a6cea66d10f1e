import type { Task } from '../api/answers.ts';
import { short } from '../screen/table.ts';

type Row = readonly [string, string];

const COLUMNS_MAX = 500;

/** What a command is and what its newest attempt used, beside what was promised to it. */
export function execRows({ exec, resources, attempts }: Task): Row[] {
  if (exec === undefined) return [];
  const usage = attempts.at(-1)?.usage;
  const rows = [programRow(exec as Program)];
  return usage === undefined ? rows : [...rows, ['used', usedText(usage, resources)]];
}

interface Program {
  readonly command?: readonly string[];
  readonly image?: string;
  readonly args?: readonly string[];
}

function programRow({ command = [], image, args = [] }: Program): Row {
  const words = image === undefined ? command : [image, ...args];
  const kind = image === undefined ? 'command' : 'container';
  return [kind, short(words.map(word).join(' '), COLUMNS_MAX)];
}

/** A word that a shell would read as it is stands without quotes. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

type Usage = NonNullable<Task['attempts'][number]['usage']>;

function usedText(usage: Usage, { cpu, memoryMb }: Task['resources']): string {
  const { wallMs, cpuMs, memoryPeakBytes, readBytes, writtenBytes } = usage;
  const parts: string[] = [];
  if (wallMs !== undefined) parts.push(`${seconds(wallMs)} in all`);
  if (cpuMs !== undefined) {
    const cores = wallMs ? ` (${(cpuMs / wallMs).toFixed(2)}${ofCores(cpu)} cores)` : '';
    parts.push(`${seconds(cpuMs)} of CPU${cores}`);
  }
  if (memoryPeakBytes !== undefined) {
    const limit = memoryMb === undefined ? '' : ` of ${memoryMb} MiB`;
    parts.push(`at most ${mebibytes(memoryPeakBytes)}${limit} of memory`);
  }
  if (readBytes) parts.push(`${mebibytes(readBytes)} read`);
  if (writtenBytes) parts.push(`${mebibytes(writtenBytes)} written`);
  return parts.join(', ');
}

function ofCores(cpu: number | undefined): string {
  return cpu === undefined ? '' : ` of ${cpu}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
