/** `npm run bench:runs`: runs of workflows, end to end, beside other workflow engines. */
import { parseArgs } from 'node:util';
import { SHAPES } from './contender.ts';
import { CONTENDERS } from './contenders.ts';
import { measureRuns } from './measure-runs.ts';
import { installWorkflowPeers } from './packages.ts';

const HELP = `Usage: npm run bench:runs -- [options]

Starts runs, 64 at once, and waits for the output of each: 1, 3 and 10 steps one after the other,
and a fork of 8. A step does next to nothing. Client and worker of each engine are one process, its
server another one. Figures are runs per second, the best of all rounds.

  --runs N         runs of one step; fewer of more steps (default 3000)
  --rounds N       rounds per engine, taken in turn (default 3)
  --only NAME      ${Object.keys(CONTENDERS).join(', ')}; may be given more than once
  --help`;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', multiple: true },
    help: { type: 'boolean' },
  },
});

function line(name: string, cells: readonly string[]): string {
  return [name.padEnd(10), ...cells.map((cell) => cell.padStart(10))].join('');
}

if (values.help) console.log(HELP);
else {
  installWorkflowPeers();
  const names = values.only ?? Object.keys(CONTENDERS);
  const best = new Map<string, Map<string, number>>(names.map((name) => [name, new Map()]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const name of names) {
      const kept = best.get(name) ?? new Map<string, number>();
      for (const [shape, perSecond] of await measureRuns(name, Number(values.runs))) {
        kept.set(shape, Math.max(kept.get(shape) ?? 0, perSecond));
      }
    }
  }
  console.log(
    line(
      'runs/s',
      SHAPES.map(({ name }) => name),
    ),
  );
  for (const [name, figures] of best) {
    const cells = SHAPES.map((shape) => Math.round(figures.get(shape.name) ?? 0).toString());
    console.log(line(name, cells));
  }
}
