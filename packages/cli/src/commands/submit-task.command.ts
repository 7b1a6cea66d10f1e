import { randomUUID } from 'node:crypto';
import { suggest } from '@sluice/protocol/suggestion';
import { type Task, TERMINAL } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { DURATION, defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { stylesFor } from '../screen/styles.ts';
import { followTask } from './follow-task.ts';
import {
  connect,
  durationOf,
  inputOf,
  integerOf,
  jsonOf,
  print,
  SERVER_FLAGS,
  stated,
  tagsOf,
  widthOf,
} from './shared.ts';
import { errorText, taskText } from './task-text.ts';
import { unknownTypeAdvice } from './unknown-type.ts';

/** Longer than the tries of all addresses take together. */
const OWN_KEY_WINDOW_MS = 600_000;

export const submitTask = defineCommand({
  name: 'task submit',
  summary: 'Submit a task',
  details:
    'Prints the id of the task. With --wait it shows the progress, prints the output, and exits\n' +
    'with 1 unless the task succeeds.',
  args: ['TYPE'],
  flags: {
    input: { value: 'JSON', short: 'i', help: 'input; @FILE reads a file, - reads stdin' },
    priority: { value: 'N', short: 'p', help: '0 to 8; 8 runs first (default 4)' },
    delay: { value: DURATION, help: 'earliest start, from now' },
    'run-at': { value: 'TIME', help: 'earliest start as ISO 8601: 2030-01-01T00:00:00Z' },
    'max-attempts': { value: 'N', help: 'maximum number of attempts (default 3)' },
    'run-timeout': { value: DURATION, help: 'maximum time of an attempt' },
    'dedupe-key': {
      value: 'KEY',
      help: 'a second submit with this key and input returns the same task',
    },
    'on-duplicate': {
      value: 'HOW',
      help: 'if the key has another input: refuse (default), existing or replace',
    },
    tag: { value: 'NAME=VALUE', isMultiple: true, help: 'adds a tag; can be repeated' },
    wait: { short: 'w', help: 'wait until the task ends' },
    timeout: { value: DURATION, help: 'with --wait: maximum time to wait' },
    ...SERVER_FLAGS,
  },
  examples: [
    `sluice task submit hello --input '{"name": "Ada"}'`,
    'sluice task submit transcode --input @video.json --priority 8 --wait',
    'sluice task submit report --run-at 2030-01-01T06:00:00Z --tag team=finance',
    'sluice task submit remind --dedupe-key call-7 --on-duplicate replace --delay 2h',
  ],
  run: async ({ args: [type], flags }, io) => {
    const api = connect(flags, io);
    const maxAttempts = integerOf(flags['max-attempts'], 'max-attempts');
    const runMs = durationOf(flags['run-timeout'], 'run-timeout');
    const timeoutMs = durationOf(flags.timeout, 'timeout');
    const isKeyOurs = flags['dedupe-key'] === undefined;
    const { deduplicated, ...submitted } = await api.post<Submitted>(
      '/v1/tasks',
      ['id', 'state'],
      stated({
        type,
        ...(await inputOf(api, await jsonOf(flags.input, 'input', io))),
        priority: integerOf(flags.priority, 'priority'),
        delayMs: durationOf(flags.delay, 'delay'),
        runAt: flags['run-at'],
        retry: maxAttempts === undefined ? undefined : { maxAttempts },
        timeouts: runMs === undefined ? undefined : { runMs },
        ...(isKeyOurs ? freshKey() : { dedupeKey: flags['dedupe-key'] }),
        onDuplicate: onDuplicateOf(flags),
        tags: tagsOf(flags.tag),
      }),
    );
    if (flags.wait === true) io.stderr(`submitted ${submitted.id}`);
    else print(io, flags, isKeyOurs ? submitted : { ...submitted, deduplicated }, ({ id }) => id);
    if (flags.json !== true && submitted.state === 'queued') {
      const advice = await unknownTypeAdvice(api, { id: submitted.id, type });
      if (advice !== undefined) io.stderr(advice);
    }
    if (flags.wait !== true) return ExitCode.done;
    const task = await followTask(api, submitted.id, { io, timeoutMs });
    const hasOutput = task.state === 'succeeded' || flags.json === true;
    const output = flags.json === true ? undefined : await outputOf(api, task);
    if (hasOutput) print(io, flags, task, () => JSON.stringify(output, null, 2));
    return exitOf(task, io.stderr);
  },
});

interface Submitted {
  readonly id: string;
  readonly state: string;
  readonly deduplicated: boolean;
}

async function outputOf(api: ApiCaller, { output, outputBlob }: Task): Promise<unknown> {
  return outputBlob === undefined ? output : JSON.parse((await api.getBlob(outputBlob)).toString());
}

const POLICIES = ['refuse', 'existing', 'replace'];

function onDuplicateOf(flags: {
  readonly 'dedupe-key'?: string | undefined;
  readonly 'on-duplicate'?: string | undefined;
}): string | undefined {
  const policy = flags['on-duplicate'];
  if (policy === undefined) return undefined;
  if (!POLICIES.includes(policy)) {
    const near = suggest(policy, POLICIES);
    const hint = near === undefined ? '' : `; did you mean '${near}'?`;
    throw new UsageError(`--on-duplicate is refuse, existing or replace, not '${policy}'${hint}`);
  }
  if (flags['dedupe-key'] === undefined) throw new UsageError('--on-duplicate needs --dedupe-key');
  return policy;
}

/** Makes a submit safe to repeat when a connection breaks; the key is not shown. */
function freshKey(): { readonly dedupeKey: string; readonly dedupeWindowMs: number } {
  return { dedupeKey: `cli.${randomUUID()}`, dedupeWindowMs: OWN_KEY_WINDOW_MS };
}

export const waitForTask = defineCommand({
  name: 'task wait',
  summary: 'Wait until a task ends, and show its progress',
  details: 'Exits with 1 if the task does not succeed, or has not ended after --timeout.',
  args: ['ID'],
  flags: {
    timeout: { value: DURATION, help: 'maximum time to wait (default: no limit)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice task wait t_01k7f6b1oj0000000001 --timeout 5m'],
  run: async ({ args: [id], flags }, io) => {
    const timeoutMs = durationOf(flags.timeout, 'timeout');
    const task = await followTask(connect(flags, io), id, { io, timeoutMs });
    const styles = stylesFor({ isTerminal: io.terminal.isStdout, env: io.env });
    print(io, flags, task, (each) => taskText(each, { styles, columns: widthOf(io) }));
    // How it ended is shown already.
    return exitOf(task, TERMINAL.includes(task.state) ? () => undefined : io.stderr);
  },
});

function exitOf({ id, state, error }: Task, complain: (line: string) => void): ExitCode {
  if (state === 'succeeded') return ExitCode.done;
  complain(`sluice: the task ${stateWords(state)}${error === null ? '' : `: ${errorText(error)}`}`);
  if (!TERMINAL.includes(state)) complain(`'sluice task wait ${id}' waits on`);
  return ExitCode.refused;
}

function stateWords(state: string): string {
  if (state === 'timed_out') return 'timed out';
  if (state === 'cancelled') return 'was cancelled';
  return ['failed', 'expired'].includes(state) ? state : `has not ended yet; it is ${state}`;
}
