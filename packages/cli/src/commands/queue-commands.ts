import type { Queue } from '../api/answers.ts';
import { type Command, defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { duration, table } from '../screen/table.ts';
import { queueUsage } from './queue-usage.command.ts';
import { connect, print, printList, readList, SERVER_FLAGS } from './shared.ts';
import { unknownQueueAdvice } from './unknown-type.ts';

const listQueues = defineCommand({
  name: 'queue list',
  summary: 'List the queues with depth, age and rates',
  flags: SERVER_FLAGS,
  examples: ['sluice queue list'],
  run: async ({ flags }, io) => {
    const list = await readList<Queue>(connect(flags, io), '/v1/queues');
    const none = 'no queues: there are no tasks yet';
    printList(io, flags, list, { none, table: queueTable });
    return ExitCode.done;
  },
});

export function queueTable(queues: readonly Queue[]): string {
  const head = ['TYPE', 'DEPTH', 'OLDEST', 'LEASED', 'IN/S', 'OUT/S', 'WORKERS', 'DEAD', ''];
  return table(
    head,
    queues.map((queue) => [
      queue.type,
      queue.depth,
      queue.oldestAgeMs === null ? '-' : duration(queue.oldestAgeMs),
      queue.leased,
      queue.inPerSec,
      queue.outPerSec,
      queue.workers,
      queue.deadLetters,
      queue.paused ? 'paused' : '',
    ]),
  );
}

function setPaused(word: 'pause' | 'resume', summary: string): Command {
  return defineCommand({
    name: `queue ${word}`,
    summary,
    details:
      'A type that has no tasks and no workers yet can be paused in advance; the command says\n' +
      'so, because the name may be wrong.',
    args: ['TYPE'],
    flags: SERVER_FLAGS,
    examples: [`sluice queue ${word} transcode`],
    run: async ({ args: [type], flags }, io) => {
      const api = connect(flags, io);
      const advice = await unknownQueueAdvice(api, type);
      const path = `/v1/queues/${encodeURIComponent(type)}`;
      const queue = await api.patch<Queue>(path, ['type'], { paused: word === 'pause' });
      print(io, flags, queue, (each) => queueTable([each]));
      if (advice !== undefined) io.stderr(advice);
      return ExitCode.done;
    },
  });
}

export const queueCommands = defineGroup('queue', 'List, pause and resume queues', {
  list: listQueues,
  pause: setPaused('pause', 'Stop giving tasks of a type to workers; running tasks continue'),
  resume: setPaused('resume', 'Give tasks of a type to workers again'),
  usage: queueUsage,
});
