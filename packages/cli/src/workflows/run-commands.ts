import type { RunExplanation } from '@sluice/protocol';
import type { Run, RunEntry, WorkflowVersion } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { suggesting } from '../api/nearest-name.ts';
import { DURATION, defineCommand, defineGroup } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import {
  connect,
  durationOf,
  jsonOf,
  limitOf,
  print,
  printList,
  readList,
  SERVER_FLAGS,
  type ServerFlags,
  stated,
  tagsOf,
} from '../commands/shared.ts';
import { stylesFor } from '../screen/styles.ts';
import { visible } from '../screen/visible.ts';
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
  details: 'Exits with 1 if the run does not succeed, or has not ended after --timeout.',
  args: ['ID'],
  flags: {
    timeout: { value: DURATION, help: 'maximum time to wait (default: no limit)' },
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
  run: ({ args: [id], flags }, io) => operate(io, flags, { id, action: 'cancel' }),
});

const explainRun = defineCommand({
  name: 'run explain',
  summary: 'Explain what a run waits for, down to its tasks and their workers',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice run explain r_01k7f6b1oj0000000001'],
  run: async ({ args: [id], flags }, io) => {
    const path = `/v1/runs/${encodeURIComponent(id)}/explain`;
    const found = await connect(flags, io).get<RunExplanation>(path, ['reasons']);
    print(io, flags, found, (each) => runExplanationText(each, id));
    return ExitCode.done;
  },
});

/** A line per step, and below it a line per worker. */
function runExplanationText({ reasons, stepsNotShown }: RunExplanation, id: string): string {
  const lines = reasons.flatMap(({ code, message, step, task, taskId }) => {
    const named = taskId === undefined ? '' : ` (task ${taskId})`;
    const workers = (task?.reasons ?? []).flatMap((each) =>
      each.worker === undefined ? [] : [`  worker ${each.worker} ${each.message}`],
    );
    const hint =
      code === 'call' ? [`  'sluice run complete ${id} ${step} --output JSON' ends it`] : [];
    return [`${message}${named}`, ...workers, ...hint].map(visible);
  });
  if (stepsNotShown > 0) lines.push(`and ${stepsNotShown} more steps`);
  return lines.join('\n');
}

const pauseRun = defineCommand({
  name: 'run pause',
  summary: 'Pause a run: tasks under way go on, and no step begins',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice run pause r_01k7f6b1oj0000000001'],
  run: ({ args: [id], flags }, io) => operate(io, flags, { id, action: 'pause' }),
});

const resumeRun = defineCommand({
  name: 'run resume',
  summary: 'Resume a paused run; its timeout starts again',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice run resume r_01k7f6b1oj0000000001'],
  run: ({ args: [id], flags }, io) => operate(io, flags, { id, action: 'resume' }),
});

const retryRun = defineCommand({
  name: 'run retry',
  summary: 'Let a run that did not succeed go on: what failed or was stopped begins again',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice run retry r_01k7f6b1oj0000000001'],
  run: ({ args: [id], flags }, io) => operate(io, flags, { id, action: 'retry' }),
});

const restartRun = defineCommand({
  name: 'run restart',
  summary: 'Begin an ended run again from its first step, with the same input',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice run restart r_01k7f6b1oj0000000001'],
  run: ({ args: [id], flags }, io) => operate(io, flags, { id, action: 'restart' }),
});

const rerunRun = defineCommand({
  name: 'run rerun',
  summary: 'Begin an ended run again from a step, which may get another input',
  args: ['ID', 'STEP'],
  flags: {
    input: { value: 'JSON', help: 'input of the step: JSON, @FILE, or - for standard input' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice run rerun r_01k7f6b1oj0000000001 render',
    'sluice run rerun r_01k7f6b1oj0000000001 render --input \'{"width": 640}\'',
  ],
  run: async ({ args: [id, fromStep], flags }, io) => {
    const input = await jsonOf(flags.input, 'input', io);
    const body = { fromStep, ...(input === undefined ? {} : { input }) };
    return operate(io, flags, { id, action: 'rerun', body });
  },
});

const completeStep = defineCommand({
  name: 'run complete',
  summary: 'Complete a step that waits or runs, or that failed: then its run goes on',
  args: ['ID', 'STEP'],
  flags: {
    output: { value: 'JSON', help: 'output of the step: JSON, @FILE, or - for standard input' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice run complete r_01k7f6b1oj0000000001 approve --output \'{"by":"ada"}\''],
  run: async ({ args: [id, step], flags }, io) => {
    const output = (await jsonOf(flags.output, 'output', io)) ?? null;
    return operate(io, flags, { id, action: 'complete', step, body: { output } });
  },
});

const skipStep = defineCommand({
  name: 'run skip',
  summary: 'Pass over a step that failed, or that has not begun',
  args: ['ID', 'STEP'],
  flags: SERVER_FLAGS,
  examples: ['sluice run skip r_01k7f6b1oj0000000001 render'],
  run: ({ args: [id, step], flags }, io) => operate(io, flags, { id, action: 'skip', step }),
});

const failStep = defineCommand({
  name: 'run fail',
  summary: 'Fail a step that waits or runs',
  args: ['ID', 'STEP'],
  flags: {
    message: { value: 'TEXT', help: 'why it failed (default: "failed by an operator")' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice run fail r_01k7f6b1oj0000000001 approve --message "not approved"'],
  run: async ({ args: [id, step], flags }, io) => {
    const message = flags.message ?? 'failed by an operator';
    return operate(io, flags, { id, action: 'fail', step, body: { error: { message } } });
  },
});

interface Operation {
  readonly id: string;
  readonly action:
    | 'cancel'
    | 'pause'
    | 'resume'
    | 'retry'
    | 'restart'
    | 'rerun'
    | 'complete'
    | 'skip'
    | 'fail';
  /** Reference of the step that is operated on, instead of the run. */
  readonly step?: string;
  readonly body?: object;
}

/** Calls the server and shows the run as it is then. */
async function operate(
  io: CommandIo,
  flags: ServerFlags,
  { id, action, step, body }: Operation,
): Promise<ExitCode> {
  const api = connect(flags, io);
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  const at = step === undefined ? path : `${path}/steps/${encodeURIComponent(step)}`;
  const fields = ['id', 'status', 'steps'] as const;
  const isEnding = action === 'complete' || action === 'fail';
  const { fromStep } = (body ?? {}) as { readonly fromStep?: string };
  const run = await suggesting(api.post<Run>(`${at}/${action}`, fields, body), {
    code: 'step_not_found',
    word: step ?? fromStep ?? '',
    what: isEnding ? 'steps of the run that can be ended' : 'steps of the run',
    names: async () => {
      const { steps } = await api.get<Run>(path, fields);
      return steps.filter((each) => !isEnding || canBeEnded(each)).map(referenceOf);
    },
  });
  await show(io, flags, { api, run });
  return ExitCode.done;
}

/** Steps that end with something else: a loop with its body, a SUB_WORKFLOW with its run. */
const ENDED_BY_OTHERS: readonly string[] = ['DO_WHILE', 'SUB_WORKFLOW'];

function canBeEnded({ state, type }: Run['steps'][number]): boolean {
  return state === 'running' && !ENDED_BY_OTHERS.includes(type);
}

function referenceOf({ reference }: Run['steps'][number]): string {
  return reference;
}

export const runCommands = defineGroup('run', 'List, show, wait for and operate on runs', {
  list: listRuns,
  get: getRun,
  wait: waitRun,
  cancel: cancelRun,
  explain: explainRun,
  pause: pauseRun,
  resume: resumeRun,
  retry: retryRun,
  restart: restartRun,
  rerun: rerunRun,
  complete: completeStep,
  skip: skipStep,
  fail: failStep,
});
