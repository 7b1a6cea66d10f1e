import { startPostgres } from '../../peers/stores/postgres.ts';
import { INPUT, type RunContender, SHAPES, type Shape, step } from '../contender.ts';
import { requireWorkflowPeer } from '../packages.ts';

type Run = (input: typeof INPUT) => Promise<unknown>;

/** The part of its SDK that is used here. */
interface Dbos {
  setConfig(config: object): void;
  registerWorkflow(run: Run, options: { readonly name: string }): Run;
  runStep<T>(run: () => Promise<T>, options: { readonly name: string }): Promise<T>;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
}

/** As its documentation says: a function is a workflow, and each step is recorded in PostgreSQL. */
export const dbos: RunContender = {
  durability: 'PostgreSQL, fsync at each commit',
  open: async () => {
    const store = await startPostgres();
    const { DBOS } = requireWorkflowPeer('@dbos-inc/dbos-sdk') as { DBOS: Dbos };
    const systemDatabaseUrl = store.address.replace(/\/postgres$/, '/bench_dbos_sys');
    DBOS.setConfig({
      name: 'bench',
      systemDatabaseUrl,
      systemDatabasePoolSize: 32,
      runAdminServer: false,
      logLevel: 'error',
    });
    const runs = new Map(SHAPES.map((shape) => [shape.name, workflow(DBOS, shape)]));
    await DBOS.launch();
    return {
      run: async ({ name }) => runs.get(name)?.(INPUT),
      close: async () => {
        await DBOS.shutdown();
        await store.stop();
      },
    };
  },
};

function workflow(DBOS: Dbos, { name, steps, isFork }: Shape): Run {
  const run = async (input: typeof INPUT): Promise<unknown> => {
    const one = (n: number) => DBOS.runStep(() => step(input), { name: `s${n}` });
    const places = Array.from({ length: steps }, (_, n) => n);
    if (isFork) return Promise.all(places.map(one));
    let output: unknown;
    for (const n of places) output = await one(n);
    return output;
  };
  return DBOS.registerWorkflow(run, { name });
}
