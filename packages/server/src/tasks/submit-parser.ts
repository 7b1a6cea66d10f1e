import type { SubmitTasks } from '@sluice/core';
import { type ErrorDetail, LIMITS, setExecType, type TaskRequest } from '@sluice/protocol';
import { enveloped } from '../base/exec-envelope.ts';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { invalid } from '../base/validation.ts';
import { dedupeClaims } from '../dedupe/dedupe-hashes.ts';
import { claimsInRequest, type RequestKey, requestClaim } from '../dedupe/request-key.ts';
import { TaskRequestParser } from './task-request.ts';

/** Approximate maximum number of problems in an answer. */
const PROBLEMS_MAX = 50;

/** Checks a body and turns it into a command. The command is valid until the next call. */
export class SubmitParser {
  private readonly request = new TaskRequestParser();
  private readonly scratch = new PayloadScratch();

  parse(namespace: string, body: unknown, key?: RequestKey): Omit<SubmitTasks, 'now'> {
    const isArray = Array.isArray(body);
    const items: unknown[] = isArray ? body : [body];
    if (items.length === 0 || items.length > LIMITS.batchTasksMax) {
      const problem = `has ${items.length} tasks; 1 to ${LIMITS.batchTasksMax} are allowed`;
      throw invalid('the array', [{ path: '', problem }]);
    }
    for (const item of items) setExecType(item);
    const requests = this.checkAll(items, isArray).map(enveloped);
    this.scratch.begin((index) => (isArray ? `/${index}/input` : '/input'));
    for (const { input, inputBlob } of requests) {
      if (inputBlob === undefined) this.scratch.add(input);
      else this.scratch.addBlob(inputBlob);
    }
    const others = key === undefined ? undefined : claimsInRequest(namespace, key);
    const dedupe = dedupeClaims(namespace, requests, others);
    const isWhole = key !== undefined && dedupe === undefined;
    return {
      type: 'submit_tasks',
      namespace,
      tasks: requests.map((request) => this.request.spec(request)),
      inputs: this.scratch.bytes,
      inputEnds: this.scratch.ends,
      ...(dedupe === undefined ? {} : { dedupe }),
      ...(isWhole ? { request: requestClaim(namespace, key) } : {}),
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
