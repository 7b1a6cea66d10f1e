/** When the schedules fire in the next day and month. A tall bar is a herd. */
import { useApi } from '../../base/queries.ts';
import { count, localTime, plural } from '../../base/words.ts';
import { Bars } from '../../ui/charts.tsx';
import { Loading, Panel } from '../../ui/parts.tsx';

const HOURS = 24;

export function Density() {
  const day = useApi('GET /v1/schedule-calendar', { query: { window: '24h' } });
  const month = useApi('GET /v1/schedule-calendar', { query: { window: '30d' } });
  if (day.data === undefined || month.data === undefined) {
    return (
      <Panel title="Calendar">
        <Loading />
      </Panel>
    );
  }
  return (
    <div className="columns">
      <DayStrip data={day.data} />
      <MonthGrid data={month.data} />
    </div>
  );
}

type Data = NonNullable<ReturnType<typeof useApi<'GET /v1/schedule-calendar'>>['data']>;

function note({ counts, isComplete }: Data): string {
  const total = counts.reduce((sum, each) => sum + each, 0);
  return `${isComplete ? '' : 'more than '}${plural(total, 'fire')}`;
}

function DayStrip({ data }: { readonly data: Data }) {
  const from = Date.parse(data.from);
  const titles = data.counts.map(
    (each, index) => `${localTime(from + index * data.stepMs)}: ${plural(each, 'fire')}`,
  );
  const marks = [0, 6, 12, 18, 24];
  return (
    <Panel title="Next 24 hours" aside={<span className="muted small">{note(data)}</span>}>
      <div className="strip">
        <Bars
          values={data.counts}
          titles={titles}
          label={`Fires in the next 24 hours: ${note(data)}`}
        />
      </div>
      <div className="row spread small muted number">
        {marks.map((hour) => (
          <span key={hour}>{clock(from + hour * 3_600_000)}</span>
        ))}
      </div>
    </Panel>
  );
}

function clock(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** A row for each day, a cell for each hour. */
function MonthGrid({ data }: { readonly data: Data }) {
  const from = Date.parse(data.from);
  const top = Math.max(1, ...data.counts);
  const least = Math.min(top - 1, ...data.counts);
  const rows = Array.from({ length: Math.ceil(data.counts.length / HOURS) }, (_, row) =>
    data.counts.slice(row * HOURS, (row + 1) * HOURS),
  );
  return (
    <Panel title="Next 30 days" aside={<span className="muted small">{note(data)}</span>}>
      <div
        className="month"
        role="img"
        aria-label={`Fires in the next 30 days, by hour: ${note(data)}`}
      >
        {rows.map((cells, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place.
          <div key={row} className="month-row">
            {cells.map((each, cell) => (
              <i
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place.
                key={cell}
                title={`${localTime(from + (row * HOURS + cell) * data.stepMs)}: ${count(each)}`}
                style={{
                  opacity: each === 0 ? undefined : 0.2 + ((each - least) / (top - least)) * 0.8,
                }}
                data-empty={each === 0}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="small muted">
        Each row is 24 hours from {clock(from)} on; the darkest cell has {plural(top, 'fire')}.
      </p>
    </Panel>
  );
}
