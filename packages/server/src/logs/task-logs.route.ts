import {
  DEFAULT_NAMESPACE,
  findTask,
  isTerminal,
  NO_SLOT,
  TASK_STATES,
  type TaskNumber,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, LogQuery, PING_AFTER_MS, ROUTES, type TaskParams } from '@sluice/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Admission } from '../admission.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { Checker } from '../http/validation.ts';
import { taskNotFound } from '../tasks/read-task.ts';
import type { TaskWaiters } from '../tasks/task-waiters.ts';
import { timeText } from '../time-text.ts';
import type { AttemptLines, TaskLogs } from './task-logs.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly waiters: TaskWaiters;
  readonly logs: TaskLogs;
}

/** Somebody who follows and does not read is let go when so much waits for him. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;

export function taskLogsRoute(app: FastifyInstance, parts: Parts): void {
  const query = new Checker(LogQuery);
  app.route<{ Params: TaskParams }>({
    ...routeOptions(ROUTES.getTaskLogs),
    handler: async (request, reply) => {
      const { id } = request.params;
      const { attempt, follow, limit = LIMITS.logLinesDefault } = parseQuery(query, request.query);
      parts.admission.read();
      await taskOf(parts.engine, id);
      if (follow !== undefined && follow !== 'false') {
        parts.waiters.admit();
        return followTask(parts, id, reply);
      }
      const lines = (await parts.logs.read(id, attempt)).flatMap(shownLines);
      return { items: lines.slice(-limit) };
    },
  });
}

async function taskOf(engine: Engine, id: string): Promise<{ task: TaskNumber; isOver: boolean }> {
  return engine.read((state) => {
    const slot = findTask(state, DEFAULT_NAMESPACE, id);
    if (slot === NO_SLOT) throw taskNotFound(id);
    const { number, state: states } = state.tasks;
    return { task: number[slot] as TaskNumber, isOver: isTerminal(states[slot]) };
  });
}

function shownLines({ attempt, at, lines }: AttemptLines): object[] {
  return lines.map((line) => ({ attempt, at: timeText(at), line }));
}

/** What is there, what comes, and the end of the task, as server-sent events. */
async function followTask(parts: Parts, id: string, reply: FastifyReply): Promise<void> {
  const { engine, logs, waiters } = parts;
  const gone = new AbortController();
  const { raw } = reply.hijack();
  raw.once('close', () => gone.abort());
  raw.on('error', () => gone.abort());
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const send = (event: string, data: unknown): void => {
    if (raw.writableLength > UNREAD_BYTES_MAX) raw.destroy();
    else if (!gone.signal.aborted) raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  // What is written while the files are read comes after them.
  const early: AttemptLines[] = [];
  let hear = (lines: AttemptLines): void => void early.push(lines);
  const stop = logs.follow(id, (lines) => hear(lines));
  const ping = setInterval(() => send('ping', {}), PING_AFTER_MS);
  try {
    const old = await logs.read(id);
    const isOld = new Set(old.map(({ attempt, seq }) => `${attempt} ${seq}`));
    for (const lines of old) send('lines', shownLines(lines));
    hear = (lines) => {
      if (!isOld.has(`${lines.attempt} ${lines.seq}`)) send('lines', shownLines(lines));
    };
    early.forEach(hear);
    await untilOver(engine, waiters, { id, signal: gone.signal });
    const state = await stateOf(engine, id);
    await logs.written(id);
    send('end', { state });
  } catch {
    // The answer has begun: its end without an `end` event says that something went wrong.
  } finally {
    stop();
    clearInterval(ping);
    raw.end();
  }
}

async function untilOver(
  engine: Engine,
  waiters: TaskWaiters,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const { task, isOver } = await taskOf(engine, id);
    if (isOver) return;
    await waiters.waitForAny([task], LIMITS.waitMsMax, signal);
  }
}

function stateOf(engine: Engine, id: string): Promise<string> {
  return engine.read((state) => {
    const slot = findTask(state, DEFAULT_NAMESPACE, id);
    return slot === NO_SLOT ? 'unknown' : TASK_STATES[state.tasks.state[slot]];
  });
}
