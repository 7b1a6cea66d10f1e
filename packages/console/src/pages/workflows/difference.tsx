/** What changed between two versions, line by line. */
import { STILL } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { ErrorNote, Loading, Panel } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { type DiffLine, lineDifference } from './line-difference.ts';

interface DifferenceProps {
  readonly name: string;
  readonly older: number;
  readonly newer: number;
}

const AROUND = 3;
const SIGNS = { same: ' ', added: '+', removed: '−' };

export function Difference({ name, older, newer }: DifferenceProps) {
  const call = 'GET /v1/workflows/{name}/versions/{version}';
  const a = useApi(call, { params: { name, version: older } }, { meta: STILL });
  const b = useApi(call, { params: { name, version: newer } }, { meta: STILL });
  if (a.data === undefined || b.data === undefined) return <ErrorNote error={a.error ?? b.error} />;
  if (a.isPending || b.isPending) return <Loading />;
  const lines = lineDifference(text(a.data.definition), text(b.data.definition));
  const changed = lines.filter(({ kind }) => kind !== 'same').length;
  return (
    <Panel
      title={`From version ${older} to ${newer}`}
      aside={<span className="muted">{plural(changed, 'changed line')}</span>}
    >
      {changed === 0 ? (
        <p className="muted">They are the same.</p>
      ) : (
        <ScrollArea className="diff" label="Difference">
          {shown(lines).map(({ kind, text: line }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place.
            <div key={index} data-kind={kind}>
              {SIGNS[kind]} {line}
            </div>
          ))}
        </ScrollArea>
      )}
    </Panel>
  );
}

function text(definition: unknown): string {
  return JSON.stringify(definition, undefined, 2);
}

/** Changed lines, with a few around them. */
function shown(lines: readonly DiffLine[]): DiffLine[] {
  const near = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - AROUND), index + AROUND + 1)
      .some(({ kind }) => kind !== 'same'),
  );
  return lines.flatMap((line, index): DiffLine[] => {
    if (near[index]) return [line];
    return index > 0 && near[index - 1] ? [{ kind: 'same', text: '…' }] : [];
  });
}
