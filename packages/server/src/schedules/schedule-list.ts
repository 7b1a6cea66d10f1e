import {
  nameOf,
  type ReadonlyState,
  type ScheduleSettings,
  type Slot,
  scheduleStateOf,
  settingsOf,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, type ScheduleListQuery, type ScheduleView, scheduleTime } from '@sluice/protocol';
import { badCursor, cursorText, pageJson } from '../answers/pages.ts';
import { UTF8 } from '../base/utf8.ts';
import { scheduleView } from './schedule-exec.ts';

/** Schedules, and bytes of them, that one turn looks at. */
const PER_TURN = 1000;
const BYTES_PER_TURN = 2 ** 20;

/** A page with large inputs is shorter. */
const PAGE_CHARACTERS_MAX = 4 * 2 ** 20;

interface ScheduleFilter extends Omit<ScheduleListQuery, 'limit' | 'cursor'> {
  readonly tags: Readonly<Record<string, string>>;
}

/** A page of matching schedules, in the order of their places, as JSON text. */
export async function listSchedules(
  engine: Engine,
  namespace: string,
  { filter, limit = LIMITS.pageDefault, cursor }: Page,
): Promise<string> {
  const items: string[] = [];
  let place = cursor === undefined ? 0 : placeIn(cursor);
  let now = 0;
  let isOver = false;
  let characters = 0;
  while (!isOver && items.length < limit) {
    const turn = await engine.read((state) => {
      now = state.now;
      return look(state, namespace, { filter, place, limit: limit - items.length });
    });
    items.push(...turn.found.map((view) => JSON.stringify(view)));
    ({ place, isOver } = turn);
    characters += turn.found.length === 0 ? 0 : items.slice(-turn.found.length).join('').length;
    if (characters > PAGE_CHARACTERS_MAX) break;
  }
  return pageJson(items, isOver ? undefined : String(place), { asOf: now, lagMs: 0 });
}

interface Page {
  readonly filter: ScheduleFilter;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

function placeIn(cursor: string): number {
  const place = Number(cursorText(cursor));
  if (!Number.isSafeInteger(place) || place < 0) throw badCursor();
  return place;
}

interface Turn {
  readonly found: ScheduleView[];
  readonly place: number;
  readonly isOver: boolean;
}

function look(
  state: ReadonlyState,
  namespace: string,
  { filter, place, limit }: { filter: ScheduleFilter; place: number; limit: number },
): Turn {
  const { table } = state.schedules;
  const index = state.namespaces.find(namespace)?.index;
  const found: ScheduleView[] = [];
  let at = place;
  let bytes = 0;
  for (let seen = 0; at < table.used && seen < PER_TURN && found.length < limit; at++, seen++) {
    if (bytes > BYTES_PER_TURN) break;
    const slot = at as Slot;
    if (table.number[slot] === 0 || table.namespace[slot] !== index) continue;
    if (!matchesColumns(state, slot, filter)) continue;
    bytes += table.definitionLength[slot];
    if (!matchesSettings(settingsOf(state, slot, UTF8), filter)) continue;
    found.push(scheduleView(state, slot));
  }
  return { found, place: at, isOver: at >= table.used };
}

/** Cheap conditions come first. */
function matchesColumns(state: ReadonlyState, slot: Slot, filter: ScheduleFilter): boolean {
  const { nextAt, paused } = state.schedules.table;
  if (filter.state !== undefined && scheduleStateOf(state, slot) !== filter.state) return false;
  const [before, after] = [scheduleTime(filter.nextBefore), scheduleTime(filter.nextAfter)];
  if (before !== undefined || after !== undefined) {
    if (nextAt[slot] === 0 || paused[slot] === 1) return false;
    if (before !== undefined && nextAt[slot] >= before) return false;
    if (after !== undefined && nextAt[slot] <= after) return false;
  }
  return filter.q === undefined || nameOf(state, slot, UTF8).includes(filter.q);
}

function matchesSettings(
  settings: ScheduleSettings,
  { type, workflow, tags }: ScheduleFilter,
): boolean {
  if (type !== undefined && settings.task?.type !== type) return false;
  if (workflow !== undefined && settings.run?.workflow !== workflow) return false;
  return Object.entries(tags).every(([name, value]) => settings.tags?.[name] === value);
}
