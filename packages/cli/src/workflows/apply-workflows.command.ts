import type { Change } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import type { UnreadableFile } from '../commands/definition-files.ts';
import { connect, print, SERVER_FLAGS } from '../commands/shared.ts';
import { table } from '../screen/table.ts';
import { readWorkflows, type WorkflowFile } from './workflow-files.ts';

/** What became of one file. */
interface Applied {
  readonly file: string;
  readonly workflow: string;
  readonly version: number | null;
  readonly change: Change['change'] | 'refused';
  readonly problem?: string;
  readonly warnings?: Change['warnings'];
}

export const applyWorkflows = defineCommand({
  name: 'workflow apply',
  summary: 'Register the definitions in files and folders',
  details:
    'Takes JSON, YAML, TypeScript and JavaScript files, and folders of them. A definition has a\n' +
    'name, a version (default 1) and tasks. A module may export several of them, as objects or\n' +
    'made with defineWorkflow of the SDK.\n' +
    'The plan says of each what it is: new, changed, unchanged or refused. Nothing is\n' +
    'registered when one is refused, or with --dry-run. A version that had a run cannot change.',
  args: ['PATH...'],
  flags: {
    'dry-run': { help: 'only show the plan; exit code 1 when something would be refused' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice workflow apply workflows/ --dry-run', 'sluice workflow apply workflows/'],
  run: async ({ args: paths, flags }, io) => {
    const api = connect(flags, io);
    const found = await readWorkflows(paths);
    const plan = await applyAll(api, found, true);
    const isRefused = plan.some(({ change }) => change === 'refused');
    const isDry = flags['dry-run'] === true || isRefused;
    const applied = isDry ? plan : await applyAll(api, found, false);
    print(io, flags, { dryRun: isDry, items: applied }, ({ items }) => planText(items));
    for (const { file, problem, warnings = [] } of applied) {
      if (problem !== undefined) io.stderr(`${file}: ${problem}`);
      for (const { path, message } of warnings) io.stderr(`${file}: warning: ${path} ${message}`);
    }
    if (isRefused) io.stderr('nothing was registered');
    const isLate = applied.some(({ change }) => change === 'refused');
    return isLate ? ExitCode.refused : ExitCode.done;
  },
});

async function applyAll(
  api: ApiCaller,
  files: readonly (WorkflowFile | UnreadableFile)[],
  dryRun: boolean,
): Promise<Applied[]> {
  const applied: Applied[] = [];
  for (const file of files) applied.push(await applyOne(api, file, dryRun));
  return applied;
}

async function applyOne(
  api: ApiCaller,
  found: WorkflowFile | UnreadableFile,
  dryRun: boolean,
): Promise<Applied> {
  const { file } = found;
  if ('problem' in found) {
    return { file, workflow: '', version: null, change: 'refused', problem: found.problem };
  }
  const { name, version, definition } = found;
  const path = `/v1/workflows/${encodeURIComponent(name)}/versions/${version}?dryRun=${dryRun}`;
  try {
    const { change, warnings } = await api.put<Change>(path, ['change'], definition);
    return { file, workflow: name, version, change, warnings };
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    return { file, workflow: name, version, change: 'refused', problem: cause.message };
  }
}

function planText(items: readonly Applied[]): string {
  return table(
    ['WORKFLOW', 'VERSION', 'CHANGE', 'FILE'],
    items.map(({ workflow, version, change, file }) => [
      workflow === '' ? '-' : workflow,
      version === null ? '-' : String(version),
      change,
      file,
    ]),
  );
}
