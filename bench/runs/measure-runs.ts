import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Runs per second by the name of the shape. */
export type RunFigures = ReadonlyMap<string, number>;

/** Measures one workflow engine in a fresh process, with a share of the full number of runs. */
export async function measureRuns(name: string, fullRuns: number, share = 1): Promise<RunFigures> {
  const module = fileURLToPath(new URL('./contend.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [module, name, String(fullRuns * share), String(fullRuns)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const figures = new Map<string, number>();
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"shape"')) continue;
    const { shape, perSecond } = JSON.parse(line) as { shape: string; perSecond: number };
    figures.set(shape, perSecond);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return figures;
}
