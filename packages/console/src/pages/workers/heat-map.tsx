/** Workers by resources: what is reserved of each, and what is used of it. */
import { shortCount } from '../../base/words.ts';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { type HeatCell, heatCell, KINDS } from './heat-cell.ts';
import type { Worker } from './workers-page.tsx';

export function HeatMap({ workers }: { readonly workers: readonly Worker[] }) {
  const kinds = KINDS.filter(({ kind }) =>
    workers.some((worker) => worker.capacity[kind] !== undefined || (worker.used[kind] ?? 0) > 0),
  );
  return (
    <ScrollArea className="table-scroll" label="Table of capacity">
      <table className="heat">
        <thead>
          <tr>
            <th>Worker</th>
            {kinds.map(({ kind, name }) => (
              <th key={kind}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.id}>
              <td className="clip nowrap">{worker.name}</td>
              {kinds.map(({ kind }) => (
                <td key={kind}>
                  <Cell cell={heatCell(worker, kind)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

export function HeatLegend() {
  return (
    <span className="row heat-legend">
      <span>
        <i className="heat-key" data-part="reserved" /> reserved for tasks
      </span>
      <span>
        <i className="heat-key" data-part="used" /> used, as measured
      </span>
    </span>
  );
}

/** The numbers are in the cell; the bars only help to compare. */
function Cell({ cell: { max, reserved, used } }: { readonly cell: HeatCell }) {
  const of = max === undefined ? ', no limit' : ` of ${shortCount(max)}`;
  return (
    <span className="heat-cell number">
      <Bar part="reserved" share={shareOf(reserved, max)} />
      <span>
        {amount(reserved)}
        {of}
      </span>
      {used !== undefined && (
        <>
          <Bar part="used" share={shareOf(used, max)} />
          <span className="muted">{amount(used)} used</span>
        </>
      )}
    </span>
  );
}

function Bar({ part, share }: { readonly part: 'reserved' | 'used'; readonly share: number }) {
  return (
    <span className="heat-bar" aria-hidden="true">
      <span data-part={part} data-full={share >= 0.9} style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** Cores are often a small part of one. */
function amount(value: number): string {
  return value > 0 && value < 1 ? value.toFixed(2) : shortCount(value);
}

function shareOf(value: number, max: number | undefined): number {
  return max === undefined || max === 0 ? 0 : Math.min(1, value / max);
}
