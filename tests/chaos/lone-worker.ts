/**
 * A worker in a separate process, which a test may stop. It takes one task, sends heartbeats while
 * it holds the task, and reports its end on SIGUSR2.
 *
 *   node lone-worker.ts URL LEASE_MS
 */
import { connectHttp } from '../support/http-client.ts';
import { openWorkerStream, sendReports } from '../support/worker-client.ts';

const [url, leaseMs] = process.argv.slice(2);
const http = connectHttp('http1', url);
let session = '';
let lease = '';

const request = { name: 'lone', types: [{ type: 'hello' }], leaseMs: Number(leaseMs) };
openWorkerStream(http, request, {
  onWelcome: ({ sessionId, heartbeatMs }) => {
    session = sessionId;
    // A lost session learns about its loss from the outcomes of its reports.
    setInterval(
      () => sendReports(http, session, { reports: [] }).catch(() => undefined),
      heartbeatMs,
    );
    console.log(`the worker is ready at ${url}`);
  },
  onTasks: ([task]) => {
    lease = task.lease;
    console.log(`took attempt ${task.attempt}`);
  },
});

process.on('SIGUSR2', async () => {
  const report = { lease, kind: 'succeeded', output: 'too late' } as const;
  const [outcome] = await sendReports(http, session, { reports: [report] });
  console.log(`heard ${outcome}`);
});
