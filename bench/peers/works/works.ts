import { delayed, delayedEdit } from './delayed.ts';
import { drain, firstTasks, throughput } from './finish.ts';
import { idle } from './idle.ts';
import { latencyAt } from './latency.ts';
import { memory } from './memory.ts';
import { priority } from './priority.ts';
import { recovery } from './recovery.ts';
import { cron, schedules, schedulesEdit } from './schedules.ts';
import { submitBulk, submitSingle } from './submit.ts';
import type { Work } from './work.ts';

export const WORKS: Readonly<Record<string, Work>> = {
  'submit-bulk': submitBulk,
  'submit-single': submitSingle,
  drain,
  throughput,
  'first-tasks': firstTasks,
  'latency-100': latencyAt(100),
  'latency-2000': latencyAt(2000),
  delayed,
  'delayed-edit': delayedEdit,
  schedules,
  'schedules-edit': schedulesEdit,
  cron,
  priority,
  recovery,
  idle,
  memory,
};
