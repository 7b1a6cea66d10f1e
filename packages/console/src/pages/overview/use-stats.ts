import { useState } from 'react';
import type { Item } from '../../base/api.ts';
import { useStream } from '../../base/stream.ts';

export type Point = Item<'GET /v1/stats'>;
export type Window = '10m' | '24h' | '30d';

/** The points of a window, kept up to date by the server. */
export function useStats(window: Window, isAllowed: boolean): readonly Point[] {
  const [points, setPoints] = useState<{ readonly of: Window; readonly items: readonly Point[] }>({
    of: window,
    items: [],
  });
  const url = isAllowed ? `/v1/stats?window=${window}&follow=true` : undefined;
  useStream(url, {
    stats: (data) => setPoints({ of: window, items: (data as { items: Point[] }).items }),
    points: (data) => {
      const { items } = data as { items: Point[] };
      if (items.length === 0) return;
      setPoints(({ items: old }) => {
        const kept = old.filter(({ at }) => at < items[0].at);
        return { of: window, items: [...kept, ...items].slice(-LENGTHS[window]) };
      });
    },
  });
  return points.of === window ? points.items : [];
}

const LENGTHS: Readonly<Record<Window, number>> = { '10m': 600, '24h': 1440, '30d': 720 };
