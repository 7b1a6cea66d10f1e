import {
  DEFAULT_NAMESPACE,
  type KnownTask,
  type ReadonlyState,
  type Slot,
  type SubmitTasks,
  type SubmitTasksReply,
  TASK_ID_LENGTH,
  TASK_STATES,
  type TaskNumber,
  writeTaskId,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type ErrorDetail,
  LIMITS,
  ROUTES,
  SluiceError,
  SubmitQuery,
  type TaskRequest,
} from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { type Admission, overloaded } from '../admission.ts';
import { ByteBuilder } from '../byte-builder.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { Checker, invalid } from '../http/validation.ts';
import { readJsonBody } from '../http/whole-body.ts';
import { PayloadScratch } from '../payload-scratch.ts';
import { dedupeClaims } from './dedupe-hashes.ts';
import { TaskRequestParser } from './task-request.ts';
import type { TaskWaiting } from './task-waiting.ts';

const ITEM_BYTES_MAX = 96;

/** An answer lists about so many problems; the others show when these are solved. */
const PROBLEMS_MAX = 50;

/** Takes one task or an array, all or nothing, and answers once they are durable. */
export function submitTasksRoute(
  app: FastifyInstance,
  engine: Engine,
  admission: Admission,
  waiting: TaskWaiting,
): void {
  const query = new Checker(SubmitQuery);
  const parser = new SubmitParser();

  app.route({
    ...routeOptions(ROUTES.submitTasks),
    handler: async (request, reply) => {
      const { waitMs } = parseQuery(query, request.query);
      const body = await readJsonBody(request.raw);
      if (waitMs !== undefined && Array.isArray(body)) {
        throw invalid('the query string is not valid', [
          { path: '/waitMs', problem: 'goes with a single task, not with an array' },
        ]);
      }
      const command = parser.parse(body);
      admission.command(command.type);
      if (waitMs !== undefined) waiting.admit();
      let isNew = true;
      const answer = await engine.execute<SubmitTasks, Buffer>(command, (result, state) => {
        isNew = Array.isArray(body) || result.known === undefined;
        return renderReply(result, state, Array.isArray(body));
      });
      reply.code(isNew ? 201 : 200).type('application/json');
      if (waitMs === undefined) return answer;
      const { id } = JSON.parse(answer.toString()) as { id: string };
      return waiting.wait(id, waitMs, reply);
    },
  });
}

/** Checks a body and turns it into a command. The command is valid until the next call. */
class SubmitParser {
  private readonly request = new TaskRequestParser();
  private readonly scratch = new PayloadScratch();

  parse(body: unknown): Omit<SubmitTasks, 'now'> {
    const isArray = Array.isArray(body);
    const items: unknown[] = isArray ? body : [body];
    if (items.length === 0 || items.length > LIMITS.batchTasksMax) {
      const problem = `has ${items.length} tasks; 1 to ${LIMITS.batchTasksMax} are taken`;
      throw invalid('the array', [{ path: '', problem }]);
    }
    const requests = this.checkAll(items, isArray);
    this.scratch.begin((index) => (isArray ? `/${index}/input` : '/input'));
    for (const request of requests) this.scratch.add(request.input);
    const dedupe = dedupeClaims(DEFAULT_NAMESPACE, requests);
    return {
      type: 'submit_tasks',
      namespace: DEFAULT_NAMESPACE,
      tasks: requests.map((request) => this.request.spec(request)),
      inputs: this.scratch.bytes,
      inputEnds: this.scratch.ends,
      ...(dedupe === undefined ? {} : { dedupe }),
    };
  }

  private checkAll(items: unknown[], isArray: boolean): TaskRequest[] {
    const problems: ErrorDetail[] = [];
    items.forEach((item, index) => {
      if (problems.length >= PROBLEMS_MAX) return;
      this.request.check(item, isArray ? `/${index}` : '', problems);
    });
    if (problems.length > 0) throw invalid('the task is not valid', problems);
    return items as TaskRequest[];
  }
}

function renderReply(reply: SubmitTasksReply, state: ReadonlyState, isArray: boolean): Buffer {
  if (reply.rejection === 'dedupe_mismatch') throw mismatch(reply.mismatchAt ?? 0, isArray);
  if (reply.rejection !== undefined) throw overloaded(REJECTIONS[reply.rejection]);
  const out = new ByteBuilder(ITEM_BYTES_MAX * reply.slots.length + 16);
  if (isArray) out.ascii('{"items":[');
  for (let i = 0; i < reply.slots.length; i++) {
    if (i > 0) out.ascii(',');
    const known = reply.known?.get(i);
    if (known === undefined) writeNew(out, state, reply.slots[i]);
    else writeSubmitted(out, state.partition, known, true);
  }
  if (isArray) out.ascii(']}');
  return out.take();
}

function writeNew(out: ByteBuilder, { partition, tasks }: ReadonlyState, slot: Slot): void {
  const task = {
    number: tasks.number[slot] as TaskNumber,
    submittedAt: tasks.submittedAt[slot],
    state: tasks.state[slot],
  };
  writeSubmitted(out, partition, task, false);
}

function writeSubmitted(
  out: ByteBuilder,
  partition: number,
  { number, submittedAt, state }: KnownTask,
  deduplicated: boolean,
): void {
  out.ascii('{"id":"');
  const id = out.extend(TASK_ID_LENGTH);
  writeTaskId(id.bytes, id.at, { submittedAt, partition, number });
  out.ascii('","state":"');
  out.ascii(TASK_STATES[state]);
  out.ascii(deduplicated ? '","deduplicated":true}' : '","deduplicated":false}');
}

function mismatch(place: number, isArray: boolean): SluiceError {
  const path = isArray ? `/${place}/dedupeKey` : '/dedupeKey';
  const problem = 'was used with another body';
  return new SluiceError('dedupe_mismatch', `${path} ${problem}`, { details: [{ path, problem }] });
}

const REJECTIONS = {
  too_many_tasks: 'the server holds as many tasks as it may',
  too_many_bytes: 'the payloads of the tasks that the server holds fill its memory',
  too_many_keys: 'the server remembers as many dedupe keys as it may',
  too_many_types: 'the server knows as many task types as it can',
} as const;
