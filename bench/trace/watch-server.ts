/** Loaded into a server before its own code: notes when a task passes each of its parts. */
import fs from 'node:fs';
import { type IncomingMessage, Server, ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { mark, saveMarks, watchMethod } from './marks.ts';

const path = process.env.SLUICE_MARKS;
if (path === undefined) throw new Error('SLUICE_MARKS is not set');

// Writes of this process to files through the thread pool are those of the log.
const write = fs.write as (...args: unknown[]) => void;
fs.write = ((...args: unknown[]) => {
  const done = args.pop() as (...results: unknown[]) => void;
  mark('server.write');
  write(...args, (...results: unknown[]) => {
    mark('server.written');
    done(...results);
  });
}) as typeof fs.write;
syncBuiltinESMExports();

watchMethod(Server.prototype, 'emit', {
  before: ([event, request]) => {
    if (event === 'request' && (request as IncomingMessage).method === 'POST') {
      mark('server.request');
    }
  },
});
watchMethod(ServerResponse.prototype, 'end', { before: () => mark('server.answer') });

const { Partition } = await import('@sluice/core');
const HOT = ['submit_tasks', 'report_attempts'];
const isHot = ([command]: unknown[]): boolean => HOT.includes((command as { type: string }).type);
watchMethod(Partition.prototype, 'execute', {
  before: (args) => isHot(args) && mark('server.decide'),
  after: (args) => isHot(args) && mark('server.decided'),
});
const { Gateway } = await import('../../packages/server/src/gateway/gateway.ts');
watchMethod(Gateway.prototype, 'submit', { before: () => mark('server.body') });
watchMethod(Gateway.prototype, 'report', { before: () => mark('server.body') });
const { WorkerStream } = await import('../../packages/server/src/workers/worker-stream.ts');
watchMethod(WorkerStream.prototype, 'send', { before: () => mark('server.push') });

process.once('exit', () => saveMarks(path));
