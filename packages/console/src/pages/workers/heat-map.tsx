/** Workers by resources: how much of each is reserved. The number is in the cell. */
import { count, shortCount } from '../../base/words.ts';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import type { Worker } from './workers-page.tsx';

const KINDS = [
  ['slots', 'Slots'],
  ['cpu', 'CPU cores'],
  ['memoryMb', 'Memory MB'],
  ['diskMb', 'Disk MB'],
  ['gpu', 'GPUs'],
] as const;

type Kind = (typeof KINDS)[number][0];

interface Cell {
  readonly used: number;
  /** Undefined: without a limit. */
  readonly max: number | undefined;
}

function cellOf({ used, capacity }: Worker, kind: Kind): Cell {
  return { used: used[kind] ?? 0, max: capacity[kind] };
}

export function HeatMap({ workers }: { readonly workers: readonly Worker[] }) {
  const kinds = KINDS.filter(([kind]) =>
    workers.some((worker) => worker.capacity[kind] !== undefined || (worker.used[kind] ?? 0) > 0),
  );
  return (
    <ScrollArea className="table-scroll" label="Table of capacity">
      <table className="heat">
        <thead>
          <tr>
            <th>Worker</th>
            {kinds.map(([kind, name]) => (
              <th key={kind}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.id}>
              <td className="clip">{worker.name}</td>
              {kinds.map(([kind]) => (
                <HeatCell key={kind} cell={cellOf(worker, kind)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

function HeatCell({ cell: { used, max } }: { readonly cell: Cell }) {
  const share = max === undefined || max === 0 ? 0 : Math.min(1, used / max);
  const text =
    max === undefined
      ? `${shortCount(used)}, no limit`
      : `${shortCount(used)} of ${shortCount(max)}`;
  return (
    <td title={`${count(used)} reserved`}>
      <span className="heat-cell">
        <span className="heat-fill" style={{ width: `${share * 100}%` }} data-full={share >= 0.9} />
        <span className="heat-text number">{text}</span>
      </span>
    </td>
  );
}
