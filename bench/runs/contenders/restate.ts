import { mkdtemp } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sluice/postgres/testing/free-port';
import { openStore } from '../../peers/stores/store-process.ts';
import { INPUT, type RunContender, SHAPES, type Shape, step } from '../contender.ts';
import { programOf, requireWorkflowPeer } from '../packages.ts';

const SERVICE = 'bench';
const CONNECTIONS = 128;

interface Context {
  run<T>(name: string, run: () => Promise<T>): Promise<T>;
}

/** The part of its SDK that is used here. */
interface Restate {
  service(options: { name: string; handlers: Record<string, Handler> }): unknown;
  endpoint(): { bind(service: unknown): { listen(port: number): Promise<number> } };
  RestatePromise: { all(values: readonly unknown[]): Promise<unknown[]> };
}

type Handler = (context: Context, input: typeof INPUT) => Promise<unknown>;

/** As its documentation says: a handler is a workflow, and `ctx.run` records what a step gave. */
export const restate: RunContender = {
  durability: 'its log with RocksDB, default settings',
  open: async () => {
    const [ingress, admin, node, service] = await Promise.all([1, 2, 3, 4].map(() => freePort()));
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-restate-'));
    const at = (port: number) => `127.0.0.1:${port}`;
    const store = await openStore(
      {
        command: programOf('restate-server'),
        args: ['--base-dir', folder, '--node-name', 'bench'],
        options: {
          cwd: folder,
          env: {
            ...process.env,
            RESTATE_BIND_ADDRESS: at(node),
            RESTATE_ADMIN__BIND_ADDRESS: at(admin),
            RESTATE_INGRESS__BIND_ADDRESS: at(ingress),
            RESTATE_LOG_FILTER: 'error',
            RESTATE_DISABLE_TELEMETRY: 'true',
            DO_NOT_TRACK: '1',
          },
        },
        isReady: () => isServing(`http://${at(admin)}/health`),
      },
      { address: at(ingress), folder },
    );
    // It prints a line for each invocation otherwise.
    process.env.RESTATE_LOGGING = 'ERROR';
    const sdk = requireWorkflowPeer('@restatedev/restate-sdk') as Restate;
    const handlers = Object.fromEntries(SHAPES.map((shape) => [shape.name, handler(sdk, shape)]));
    await sdk
      .endpoint()
      .bind(sdk.service({ name: SERVICE, handlers }))
      .listen(service);
    await register(`http://${at(admin)}/deployments`, `http://${at(service)}`);
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    return {
      run: ({ name }) => post(agent, `http://${at(ingress)}/${SERVICE}/${name}`),
      close: async () => {
        agent.destroy();
        await store.stop();
      },
    };
  },
};

function handler({ RestatePromise }: Restate, { steps, isFork }: Shape): Handler {
  return async (context, input) => {
    const one = (n: number) => context.run(`s${n}`, () => step(input));
    const places = Array.from({ length: steps }, (_, n) => n);
    if (isFork) return RestatePromise.all(places.map(one));
    let output: unknown;
    for (const n of places) output = await one(n);
    return output;
  };
}

async function isServing(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function register(url: string, uri: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ uri }) });
  if (!answer.ok) throw new Error(`restate refused the service: ${await answer.text()}`);
}

function post(agent: Agent, url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { 'content-type': 'application/json' };
  const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (part: string) => {
      text += part;
    });
    answer.on('end', () => {
      if (answer.statusCode === 200) resolve(text);
      else reject(new Error(`${url} answered ${answer.statusCode}: ${text}`));
    });
  });
  sent.on('error', reject);
  sent.end(JSON.stringify(INPUT));
  return promise;
}
