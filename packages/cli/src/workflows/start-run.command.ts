import { randomUUID } from 'node:crypto';
import type { StartedRun } from '@sluice/protocol';
import type { Workflow } from '../api/answers.ts';
import { suggesting } from '../api/nearest-name.ts';
import { DURATION, defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import {
  connect,
  durationOf,
  integerOf,
  jsonOf,
  print,
  readList,
  SERVER_FLAGS,
  stated,
  tagsOf,
} from '../commands/shared.ts';
import { exitOfRun, waitForRun } from './wait-for-run.ts';

export const startRun = defineCommand({
  name: 'workflow start',
  summary: 'Start a run of a workflow',
  details:
    'With --wait, exits with 1 if the run does not succeed, or has not ended after --timeout.',
  args: ['NAME'],
  flags: {
    input: { value: 'JSON', short: 'i', help: 'input; @FILE reads a file, - reads stdin' },
    version: { value: 'N', help: 'this version (default: the newest)' },
    priority: { value: 'N', help: 'from 0 to 8 (default 4); 8 runs first' },
    'correlation-id': { value: 'ID', help: 'your own id, by which runs are found' },
    'dedupe-key': { value: 'KEY', help: 'a second start with this key gives the same run' },
    tag: { value: 'NAME=VALUE', isMultiple: true, help: 'tag; can be repeated' },
    wait: { help: 'wait for the end and print the output' },
    timeout: { value: DURATION, help: 'with --wait: wait at most this long' },
    ...SERVER_FLAGS,
  },
  examples: [
    `sluice workflow start transcode-video --input '{"url": "a.mp4"}' --wait`,
    'sluice workflow start nightly-backup --dedupe-key 2030-01-01',
  ],
  run: async ({ args: [workflow], flags }, io) => {
    const api = connect(flags, io);
    const timeoutMs = durationOf(flags.timeout, 'timeout');
    const call = api.post<StartedRun>(
      '/v1/runs',
      ['id', 'status'],
      stated({
        workflow,
        version: integerOf(flags.version, 'version'),
        input: await jsonOf(flags.input, 'input', io),
        priority: integerOf(flags.priority, 'priority'),
        correlationId: flags['correlation-id'],
        // So that a start which is sent again after a broken connection starts no second run.
        dedupeKey: flags['dedupe-key'] ?? `cli:${randomUUID()}`,
        tags: tagsOf(flags.tag),
      }),
    );
    const started = await suggesting(call, {
      code: 'workflow_not_found',
      word: workflow,
      what: 'workflows',
      names: async () => (await readList<Workflow>(api, '/v1/workflows')).items.map(nameOf),
    });
    if (flags.wait !== true) {
      print(io, flags, started, ({ id }) => id);
      return ExitCode.done;
    }
    io.stderr(`started ${started.id}`);
    const run = await waitForRun(api, started.id, { io, timeoutMs });
    const isShown = run.status === 'succeeded' || flags.json === true;
    if (isShown) print(io, flags, run, ({ output }) => JSON.stringify(output ?? null, null, 2));
    return exitOfRun(run, io.stderr);
  },
});

function nameOf({ name }: Workflow): string {
  return name;
}
