import type { Workflow, WorkflowVersion } from '../api/answers.ts';
import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import {
  connect,
  integerOf,
  print,
  printList,
  readList,
  SERVER_FLAGS,
} from '../commands/shared.ts';
import { ago, table } from '../screen/table.ts';
import { applyWorkflows } from './apply-workflows.command.ts';
import { startRun } from './start-run.command.ts';

const listWorkflows = defineCommand({
  name: 'workflow list',
  summary: 'List the workflows with their versions',
  flags: SERVER_FLAGS,
  examples: ['sluice workflow list'],
  run: async ({ flags }, io) => {
    const list = await readList<Workflow>(connect(flags, io), '/v1/workflows');
    const none = "no workflows; register one with 'sluice workflow apply FILE'";
    printList(io, flags, list, { none, table: (items) => workflowTable(items) });
    return ExitCode.done;
  },
});

function workflowTable(workflows: readonly Workflow[], now = Date.now()): string {
  return table(
    ['WORKFLOW', 'NEWEST', 'VERSIONS', 'STEPS', 'REGISTERED'],
    workflows.map(({ name, versions }) => [
      name,
      versions[0].version,
      versions.length,
      versions[0].steps,
      `${ago(versions[0].registeredAt, now)} ago`,
    ]),
  );
}

const getWorkflow = defineCommand({
  name: 'workflow get',
  summary: 'Print a definition as JSON',
  args: ['NAME'],
  flags: {
    version: { value: 'N', help: 'this version (default: the newest)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice workflow get transcode-video --version 2 > transcode-video.json'],
  run: async ({ args: [name], flags }, io) => {
    const api = connect(flags, io);
    const path = `/v1/workflows/${encodeURIComponent(name)}`;
    const asked = integerOf(flags.version, 'version');
    const version = asked ?? (await api.get<Workflow>(path, ['versions'])).versions[0].version;
    const found = await api.get<WorkflowVersion>(`${path}/versions/${version}`, ['definition']);
    print(io, flags, found, ({ definition }) => JSON.stringify(definition, null, 2));
    return ExitCode.done;
  },
});

const deleteWorkflow = defineCommand({
  name: 'workflow delete',
  summary: 'Delete a version of a workflow; its runs go on',
  args: ['NAME'],
  flags: { version: { value: 'N', help: 'the version to delete' }, ...SERVER_FLAGS },
  examples: ['sluice workflow delete transcode-video --version 1'],
  run: async ({ args: [name], flags }, io) => {
    const version = integerOf(flags.version, 'version') ?? 0;
    const api = connect(flags, io);
    await api.delete(`/v1/workflows/${encodeURIComponent(name)}/versions/${version}`);
    io.stderr(`deleted version ${version} of ${name}`);
    return ExitCode.done;
  },
});

export const workflowCommands = defineGroup('workflow', 'Register, list and start workflows', {
  apply: applyWorkflows,
  list: listWorkflows,
  get: getWorkflow,
  start: startRun,
  delete: deleteWorkflow,
});
