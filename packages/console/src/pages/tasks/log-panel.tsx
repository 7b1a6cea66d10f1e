/** Lines that the handler wrote, as they arrive. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Item } from '../../base/api.ts';
import { useStream } from '../../base/stream.ts';
import { clockTime, plural, utcTime } from '../../base/words.ts';
import { ansiSpans } from '../../ui/ansi.ts';
import { visible } from '../../ui/json-text.ts';
import { Panel } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';

type Line = Item<'GET /v1/tasks/{id}/logs'>;

const LINE_HEIGHT = 18;
const LINES_MAX = 50_000;
const LINE_SHOWN = 4000;

export function LogPanel({ id }: { readonly id: string }) {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [isOver, setOver] = useState(false);
  const [text, setText] = useState('');
  const [isFollowing, setFollowing] = useState(true);
  useStream(
    `/v1/tasks/${encodeURIComponent(id)}/logs?follow=true`,
    {
      lines: (data) => setLines((old) => [...old, ...(data as Line[])].slice(-LINES_MAX)),
      end: () => setOver(true),
    },
    // A stream that opens again begins from the start.
    () => setLines([]),
  );
  const found = useMemo(() => {
    const wanted = text.toLowerCase();
    return wanted === '' ? lines : lines.filter(({ line }) => line.toLowerCase().includes(wanted));
  }, [lines, text]);
  const note =
    text === ''
      ? plural(lines.length, 'line')
      : `${found.length} of ${plural(lines.length, 'line')}`;
  return (
    <Panel
      title="Log"
      aside={
        <>
          <span className="muted small">{note}</span>
          <input
            type="search"
            aria-label="Search in the log"
            placeholder="Search"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <label className="row small">
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={(event) => setFollowing(event.target.checked)}
            />
            Follow
          </label>
        </>
      }
    >
      {lines.length === 0 ? (
        <p className="muted">
          {isOver ? 'It wrote no lines.' : 'No lines yet. They appear here as they are written.'}
        </p>
      ) : (
        <Lines lines={found} searched={text} isFollowing={isFollowing} />
      )}
    </Panel>
  );
}

interface LinesProps {
  readonly lines: readonly Line[];
  readonly searched: string;
  readonly isFollowing: boolean;
}

function Lines({ lines, searched, isFollowing }: LinesProps) {
  const frame = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  useEffect(() => {
    if (isFollowing && lines.length > 0) rows.scrollToIndex(lines.length - 1);
  }, [isFollowing, lines.length, rows]);
  return (
    <ScrollArea className="log" ref={frame} role="log" label="Lines of the log">
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const { at, line } = lines[index];
          return (
            <div
              key={index}
              className="log-line"
              style={{ position: 'absolute', top: 0, transform: `translateY(${start}px)` }}
            >
              <time className="at" dateTime={at} title={utcTime(Date.parse(at))}>
                {clockTime(Date.parse(at))}
              </time>
              <bdi>
                <Coloured line={line.slice(0, LINE_SHOWN)} searched={searched} />
              </bdi>
            </div>
          );
        })}
      </div>
    </ScrollArea>
  );
}

function Coloured({ line, searched }: { readonly line: string; readonly searched: string }) {
  return ansiSpans(line).map(({ text, style }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a span is its place.
    <span key={index} className={style}>
      {searched === '' ? visible(text) : marked(visible(text), searched)}
    </span>
  ));
}

function marked(text: string, searched: string) {
  const at = text.toLowerCase().indexOf(searched.toLowerCase());
  if (at === -1) return text;
  const end = at + searched.length;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, end)}</mark>
      {text.slice(end)}
    </>
  );
}
