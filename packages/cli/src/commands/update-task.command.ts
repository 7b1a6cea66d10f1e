import { LIMITS } from '@sluice/protocol/limits';
import type { Task } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { DURATION, defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { stylesFor } from '../screen/styles.ts';
import {
  connect,
  durationOf,
  integerOf,
  jsonOf,
  print,
  SERVER_FLAGS,
  stated,
  tagsOf,
  widthOf,
} from './shared.ts';
import { taskText } from './task-text.ts';

export const updateTask = defineCommand({
  name: 'task update',
  summary: 'Change a task that no worker holds',
  details:
    'Other fields stay as they are. An object as input is merged into the old input, and null\n' +
    'removes a field. Any other input replaces the old one.',
  args: ['ID'],
  flags: {
    priority: { value: 'N', short: 'p', help: '0 to 8; 8 runs first' },
    delay: { value: DURATION, help: 'earliest start, from now' },
    'run-at': { value: 'TIME', help: "earliest start as ISO 8601, or 'now'" },
    input: { value: 'JSON', short: 'i', help: 'input; @FILE reads a file, - reads stdin' },
    tag: { value: 'NAME=VALUE', isMultiple: true, help: 'adds or replaces a tag; can be repeated' },
    untag: { value: 'NAME', isMultiple: true, help: 'removes a tag; can be repeated' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice task update t_01k7f6b1oj0000000001 --priority 8 --run-at now',
    `sluice task update t_01k7f6b1oj0000000001 --input '{"height": 1080}' --untag draft`,
  ],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    const patch = stated({
      priority: integerOf(flags.priority, 'priority'),
      runAt: runAtOf(flags['run-at'], durationOf(flags.delay, 'delay')),
      tags: tagChanges(tagsOf(flags.tag), flags.untag),
      ...(await inputOf(api, await jsonOf(flags.input, 'input', io))),
    });
    if (Object.keys(patch).length === 0) {
      throw new UsageError("'sluice task update' needs something to change; see --help");
    }
    const path = `/v1/tasks/${encodeURIComponent(id)}`;
    const task = await api.patch<Task>(path, ['id', 'type', 'state', 'attempts'], patch);
    const styles = stylesFor({ isTerminal: io.terminal.isStdout, env: io.env });
    print(io, flags, task, (each) => taskText(each, { styles, columns: widthOf(io) }));
    return ExitCode.done;
  },
});

/** A time, `null` for at once, or undefined when neither flag is given. */
function runAtOf(time: string | undefined, delayMs: number | undefined) {
  if (time !== undefined && delayMs !== undefined) {
    throw new UsageError('use either --run-at or --delay, not both');
  }
  if (delayMs !== undefined) return Date.now() + delayMs;
  return time === 'now' ? null : time;
}

function tagChanges(
  added: Readonly<Record<string, string>> | undefined,
  removed: readonly string[] | undefined,
): Readonly<Record<string, string | null>> | undefined {
  if (added === undefined && removed === undefined) return undefined;
  return { ...Object.fromEntries((removed ?? []).map((name) => [name, null])), ...added };
}

/** An input that is too big for a request is uploaded first, unless the server must merge it. */
async function inputOf(
  api: ApiCaller,
  input: unknown,
): Promise<{ input?: unknown } | { inputBlob: string }> {
  const text = JSON.stringify(input) ?? '';
  if (Buffer.byteLength(text) <= LIMITS.payloadBytesMax || text.startsWith('{')) return { input };
  return { inputBlob: (await api.putBlob(text)).sha256 };
}
