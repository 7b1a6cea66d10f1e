import type { Run, RunEntry, WorkflowVersion } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { DURATION, defineCommand, defineGroup } from '../command.ts';
import {
  connect,
  durationOf,
  limitOf,
  print,
  printList,
  readList,
  SERVER_FLAGS,
  stated,
  tagsOf,
} from '../commands/shared.ts';
import { type CommandIo, ExitCode } from '../exit-code.ts';
import { stylesFor } from '../screen/styles.ts';
import { runTable, runText } from './run-text.ts';
import { exitOfRun, waitForRun } from './wait-for-run.ts';

const listRuns = defineCommand({
  name: 'run list',
  summary: 'List runs, newest first',
  flags: {
    workflow: { value: 'NAME', help: 'only runs of this workflow' },
    status: { value: 'STATUS', help: 'only runs with this status: running, failed, …' },
    'correlation-id': { value: 'ID', help: 'only runs with this id' },
    tag: {
      value: 'NAME=VALUE',
      isMultiple: true,
      help: 'only runs with this tag; can be repeated',
    },
    since: { value: 'TIME', help: 'only runs started at this time (ISO 8601) or later' },
    until: { value: 'TIME', help: 'only runs started before this time' },
    limit: { value: 'N', short: 'n', help: 'maximum number of entries (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice run list --status failed', 'sluice run list --workflow transcode-video'],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const { workflow, status, since, until } = flags;
    const correlationId = flags['correlation-id'];
    const query = new URLSearchParams(
      stated({ workflow, status, correlationId, since, until }) as Record<string, string>,
    );
    for (const [name, value] of Object.entries(tagsOf(flags.tag) ?? {})) {
      query.append(`tag.${name}`, value);
    }
    const list = await readList<RunEntry>(connect(flags, io), '/v1/runs', { query, limit });
    printList(io, flags, list, { none: 'no runs', table: runTable });
    return ExitCode.done;
  },
});

const getRun = defineCommand({
  name: 'run get',
  summary: 'Show a run with its steps as a tree',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice run get r_01k7f6b1oj0000000001'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    const run = await api.get<Run>(`/v1/runs/${encodeURIComponent(id)}`, ['id', 'status', 'steps']);
    await show(io, flags, { api, run });
    return ExitCode.done;
  },
});

async function show(
  io: CommandIo,
  flags: { readonly json?: boolean },
  { api, run }: { readonly api: ApiCaller; readonly run: Run },
): Promise<void> {
  const styles = stylesFor({ isTerminal: io.terminal.isStdout, env: io.env });
  const definition = flags.json === true ? undefined : await definitionOf(api, run);
  print(io, flags, run, (each) => runText(each, { styles, definition }));
}

/** The definition may be deleted, or may have come with the run: then the steps are a list. */
async function definitionOf(api: ApiCaller, run: Run): Promise<object | undefined> {
  if (run.version === null) return undefined;
  const path = `/v1/workflows/${encodeURIComponent(run.workflow)}/versions/${run.version}`;
  try {
    return (await api.get<WorkflowVersion>(path, ['definition'])).definition;
  } catch (cause) {
    if (cause instanceof RefusedError) return undefined;
    throw cause;
  }
}

const waitRun = defineCommand({
  name: 'run wait',
  summary: 'Wait for the end of a run and print its output',
  args: ['ID'],
  flags: {
    timeout: { value: DURATION, help: 'wait at most this long' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice run wait r_01k7f6b1oj0000000001 --timeout 5m'],
  run: async ({ args: [id], flags }, io) => {
    const timeoutMs = durationOf(flags.timeout, 'timeout');
    const run = await waitForRun(connect(flags, io), id, { io, timeoutMs });
    const isShown = run.status === 'succeeded' || flags.json === true;
    if (isShown) print(io, flags, run, ({ output }) => JSON.stringify(output ?? null, null, 2));
    return exitOfRun(run, io.stderr);
  },
});

const cancelRun = defineCommand({
  name: 'run cancel',
  summary: 'Cancel a run; its workers are told to stop',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice run cancel r_01k7f6b1oj0000000001'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    const path = `/v1/runs/${encodeURIComponent(id)}/cancel`;
    const run = await api.post<Run>(path, ['id', 'status']);
    await show(io, flags, { api, run });
    return ExitCode.done;
  },
});

export const runCommands = defineGroup('run', 'List, show, wait for and cancel runs', {
  list: listRuns,
  get: getRun,
  wait: waitRun,
  cancel: cancelRun,
});
