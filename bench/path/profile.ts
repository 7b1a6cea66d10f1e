import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CpuProfile } from '../profile/flame-graph.ts';
import { runScenario, type Scenario } from './scenario.ts';

/** Number of costs that a table shows, largest first. */
const ROWS = 14;

/** The first match wins. Whatever matches nothing is Node itself. */
const LAYERS: readonly (readonly [RegExp, string])[] = [
  [/\(idle\)/, 'idle'],
  [/\(garbage collector\)/, 'garbage collector'],
  [/packages\/core\//, 'core'],
  [/packages\/log\//, 'log'],
  [/packages\/engine\//, 'engine'],
  [/packages\/sdk\//, 'SDK'],
  [/server\/src\/projection\//, 'projection'],
  [/whole-body/, 'JSON: parse bodies'],
  [/payload-scratch/, 'JSON: inputs and outputs to bytes'],
  [/validation|check_\d/, 'validation'],
  [/worker-stream|byte-builder/, 'render pushes and answers'],
  [/packages\/server\//, 'server, other'],
  [/node_modules\/(fastify|find-my-way|light-my-request|avvio)/, 'web framework'],
  [/writev|writeBuffer|writeUtf8String|writeLatin1String/, 'socket writes'],
];

/** Runs the scenario with V8's profiler on and reports how the main thread spent its time. */
export async function profileServer(scenario: Scenario): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-profile-'));
  try {
    await runScenario(scenario, ['--cpu-prof', `--cpu-prof-dir=${folder}`]);
    const [file] = await readdir(folder);
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile;
    return summaryOf(profile, scenario.tasks);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How a thread spent its time, by layer and by function. */
export function summaryOf(profile: CpuProfile, tasks: number): string {
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const byLayer = new Map<string, number>();
  const byFunction = new Map<string, number>();
  profile.samples.forEach((id, index) => {
    const frame = frames.get(id);
    if (frame === undefined) return;
    const place = `${frame.functionName} ${frame.url.replace(/.*\/(?=packages\/|node_modules\/)/, '')}`;
    const deltaUs = profile.timeDeltas[index];
    add(byLayer, LAYERS.find(([pattern]) => pattern.test(place))?.[1] ?? 'Node', deltaUs);
    add(byFunction, place, deltaUs);
  });
  return `${table('layer', byLayer, tasks)}\n\n${table('function', byFunction, tasks)}`;
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function table(head: string, sums: ReadonlyMap<string, number>, tasks: number): string {
  const total = [...sums.values()].reduce((sum, us) => sum + us, 0);
  const rows = [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, ROWS)
    .map(([key, us]) => {
      const percent = ((us / total) * 100).toFixed(1);
      return `| ${key.trim()} | ${(us / tasks).toFixed(2)} | ${percent} % |`;
    });
  return [`| ${head} | µs per task | share |`, '| --- | --- | --- |', ...rows].join('\n');
}
