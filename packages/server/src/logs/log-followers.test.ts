import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DEFAULT_NAMESPACE,
  type EndTask,
  type SetQueuePaused,
  type SubmitTasks,
} from '@sluice/core';
import { Engine } from '@sluice/engine';
import { MemoryLog, MemoryLogStore } from '@sluice/log';
import { FaultyLog } from '@sluice/log/testing/faulty-log';
import type { FastifyReply } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UTF8 } from '../base/utf8.ts';
import { ServerOutputs } from '../gateway/server-outputs.ts';
import { QueueRates } from '../queues/queue-rates.ts';
import { taskIdOf } from '../tasks/task-view.ts';
import { TaskWaiters } from '../tasks/task-waiters.ts';
import { WorkerStreams } from '../workers/worker-streams.ts';
import { LogFollowers } from './log-followers.ts';
import { TaskLogs } from './task-logs.ts';

const namespace = DEFAULT_NAMESPACE;
const limits = {
  tasksMax: 10,
  finishedTasksMax: 10,
  deadLettersMax: 10,
  callbacksMax: 10,
  sessionsMax: 10,
  dedupeKeysMax: 10,
  payloadBytesMax: 100_000,
  unsentBytesMax: 100_000,
};

let folder: string;
const log = new FaultyLog(new MemoryLog(new MemoryLogStore()));
const waiters = new TaskWaiters();
const clock = () => 1_000_000;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-followers-'));
});

afterEach(() => rm(folder, { recursive: true }));

function startEngine(): Promise<Engine> {
  return Engine.start({
    log,
    partition: { partition: 0, limits, utf8: UTF8 },
    outputs: new ServerOutputs(new WorkerStreams(), waiters, new QueueRates(clock)),
    clock,
    nonce: () => 1,
    atEndOfTurn: setImmediate,
    startTimer: () => () => undefined,
    graceMsMin: 0,
    notify: () => undefined,
    onStopped: (cause) => expect.fail(cause.message),
  });
}

function submit(engine: Engine): Promise<string> {
  const inputs = new Uint8Array();
  const tasks = [{ type: 'hello' }];
  const command = { type: 'submit_tasks', namespace, tasks, inputs, inputEnds: [0] } as const;
  return engine.execute<SubmitTasks, string>(command, ({ slots }, state) => {
    return taskIdOf(state, slots[0]);
  });
}

/** A change for the disk, so that reads wait for it. */
function change(engine: Engine): Promise<void> {
  const command = { type: 'set_queue_paused', namespace, taskType: 'a', paused: true } as const;
  return engine.execute<SetQueuePaused, void>(command, () => undefined);
}

function end(engine: Engine, id: string): Promise<void> {
  const payload = new Uint8Array();
  const command = { type: 'end_task', namespace, id, outcome: 'succeeded', payload } as const;
  return engine.execute<EndTask, void>(command, () => undefined);
}

test('who follows hears of an end that comes while the task is looked at', async () => {
  const engine = await startEngine();
  const id = await submit(engine);
  const parts = { engine, waiters, logs: new TaskLogs({ folder }), stalledMs: 60_000 };
  const followers = new LogFollowers(parts);
  const begun = Promise.withResolvers<void>();
  const server = createServer((_request, raw) => {
    // The task is seen open in this turn, and ends before that read is durable.
    log.hold();
    const changed = change(engine);
    void followers.follow({ namespace, id }, { hijack: () => ({ raw }) } as FastifyReply);
    begun.resolve(Promise.all([changed, end(engine, id)]).then(() => undefined));
    setImmediate(() => log.whenHeld().then(() => log.letGo()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await begun.promise;
  const text = await answer.text();
  server.close();
  await engine.close();

  expect(text).toContain('event: end\ndata: {"state":"succeeded"}');
}, 30_000);
