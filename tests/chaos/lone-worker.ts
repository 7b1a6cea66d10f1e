/**
 * A worker in a process of its own, which a test may stop: it takes one task, heartbeats while it
 * holds it, and reports its end when it gets SIGUSR2.
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
    // A session that was lost meanwhile is told so by what its reports hear.
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
