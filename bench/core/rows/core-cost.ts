import type { AttachSessionReply } from '@sluice/core';
import { type Figure, type Row, secondsOf } from '../../row.ts';
import { CoreLoad } from '../core-load.ts';
import { submitRequest, successRequest } from '../requests.ts';

const BATCH = 100;
const SLOTS = 1000;

/** The cost of a task in the core: decided, applied and encoded, without any I/O. */
export const row: Row = {
  measure: async ({ share }) => {
    const tasks = 1_000_000 * share;
    new CoreLoad().submitMany(tasks / 10, BATCH);
    return [...stages(tasks), steadyLife(tasks)];
  },
};

/** All tasks are submitted, then all leased, then all completed. */
function stages(tasks: number): Figure[] {
  const load = new CoreLoad();
  const submit = secondsOf(() => load.submitMany(tasks, BATCH));
  let lease = 0;
  let complete = 0;
  for (let leased = 0; leased < tasks; leased += SLOTS) {
    const session = `s${leased}`;
    let attached: AttachSessionReply | undefined;
    lease += secondsOf(() => {
      attached = load.attach(session, SLOTS);
    });
    const leases = load.granted();
    // A session with room would take more tasks, which is not part of the cost of an end.
    if (attached !== undefined) load.disconnect(attached);
    for (let start = 0; start < leases.length; start += BATCH) {
      const request = successRequest(session, leases.slice(start, start + BATCH));
      complete += secondsOf(() => load.report(request));
    }
  }
  return [
    figure('submit', submit, tasks),
    figure('lease', lease, tasks),
    figure('complete', complete, tasks),
  ];
}

/**
 * Tasks come and go: each submit is leased immediately, and the oldest tasks are forgotten. The
 * reports are made in the same loop, including the lease texts, as in a server.
 */
function steadyLife(tasks: number): Figure {
  const load = new CoreLoad({ finishedTasksMax: 10_000 });
  load.attach('s', 5000);
  const request = submitRequest(BATCH);
  const seconds = secondsOf(() => {
    for (let sent = 0; sent < tasks; sent += BATCH) {
      load.submit(request);
      load.complete('s', load.granted());
    }
  });
  return figure('whole life, steady', seconds, tasks);
}

function figure(what: string, seconds: number, tasks: number): Figure {
  return { what: `core alone: ${what}`, unit: 'µs/task', value: (seconds * 1e6) / tasks };
}
