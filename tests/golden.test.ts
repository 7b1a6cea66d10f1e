/**
 * What this version wrote once, later versions have to read, and as long as nothing is said to
 * have changed, write in the same way (L4).
 *
 * `npm run golden` writes missing files, after a new event, a new version of one, or a new schema.
 * `npm run golden:overwrite` replaces all files. Use it only while nothing is released.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeEvents } from '../packages/core/src/events/make-events.ts';
import { RUN_EVENTS, STEP_TASK_EVENTS } from '../packages/core/src/events/run-events.ts';
import { SCHEDULE_EVENTS } from '../packages/core/src/events/schedule-events.ts';
import { describeState } from '../packages/core/src/testing/describe-state.ts';
import {
  decodedJson,
  type GoldenEvent,
  goldenName,
  goldenOf,
  parseEvent,
  sampleEvents,
} from './golden/golden-events.ts';
import {
  type GoldenState,
  makeBatches,
  RUN_LIMITS,
  readGoldenLog,
  replayGolden,
  runBatches,
  typesIn,
  writeGoldenLog,
} from './golden/golden-log.ts';

const FOLDER = join(import.meta.dirname, 'golden');
const EVENTS = join(FOLDER, 'events');
const LOGS = join(FOLDER, 'logs');
const HEX_COLUMNS = 96;
/** Comes after length, time, type and version. */
const SLOT_OFFSET = 14;
const TYPES = Object.values(makeEvents()).map((event) => event.type);

const CHANGED =
  'its bytes changed: that is a new version (npm run golden), unless it is unreleased';

/** Set only by the commands above, never by a plain test run. */
const { SLUICE_GOLDEN: order = 'check' } = process.env;

if (order !== 'check') {
  writeEvents();
  const covered = order === 'write' ? await coveredTypes() : new Set<string>();
  // Runs and schedules have a log of their own: random worlds of plain tasks have none.
  const others = TYPES.filter((type) => !isOfRuns(type));
  const isCovered = (types: readonly string[]) => types.every((type) => covered.has(type));
  let number = order === 'write' ? logFolders().length : 0;
  if (!isCovered(others)) {
    number += 1;
    await writeGoldenLog(join(LOGS, String(number)), makeBatches(others));
  }
  if (!isCovered(TYPES.filter(isOfRuns))) {
    number += 1;
    await writeGoldenLog(join(LOGS, String(number)), runBatches(), RUN_LIMITS);
  }
}

function isOfRuns(type: string): boolean {
  return type in RUN_EVENTS || type in STEP_TASK_EVENTS || type in SCHEDULE_EVENTS;
}

describe('events', () => {
  test.each(TYPES)('%s is written as its golden file says', (type) => {
    for (const event of sampleEvents().filter((each) => each.type === type)) {
      const path = join(EVENTS, goldenName(event));
      expect(existsSync(path), `${path} is missing; run npm run golden`).toBe(true);
      expect(readGolden(path), CHANGED).toContainEqual(goldenOf(event));
    }
  });

  test.each(namesIn(EVENTS))('%s is read as it was meant', (name) => {
    for (const { json, hex } of readGolden(join(EVENTS, name))) {
      expect(JSON.parse(decodedJson(hex))).toMatchObject(JSON.parse(json));
    }
  });

  test('an event comes back from its text', () => {
    for (const event of sampleEvents()) {
      expect(goldenOf(parseEvent(goldenOf(event).json))).toEqual(goldenOf(event));
    }
  });

  test('a changed byte of an event is noticed', () => {
    const { json, hex } = goldenOf(sampleEvents()[0]);
    const changed = `${hex.slice(0, SLOT_OFFSET)}05${hex.slice(SLOT_OFFSET + 2)}`;

    expect(decodedJson(hex)).toBe(json);
    expect(decodedJson(changed)).not.toBe(json);
  });
});

describe('logs', () => {
  test.each(logFolders())('log %s and its snapshot lead to the state they led to', async (name) => {
    const folder = join(LOGS, name);
    const { limits, description } = readState(folder);

    for (const partition of await replayGolden(folder, limits)) {
      expect(describeState(partition.state)).toMatchObject(description);
    }
  });

  test('every type of event is in a golden log', async () => {
    const covered = await coveredTypes();

    expect(TYPES.filter((type) => !covered.has(type))).toEqual([]);
  });
});

function writeEvents(): void {
  mkdirSync(EVENTS, { recursive: true });
  const byName = Map.groupBy(sampleEvents(), goldenName);
  for (const [name, events] of byName) {
    const path = join(EVENTS, name);
    if (order === 'write' && existsSync(path)) continue;
    writeFileSync(path, events.map((event) => textOf(goldenOf(event))).join('\n'));
  }
}

function textOf({ json, hex }: GoldenEvent): string {
  const lines = hex.match(new RegExp(`.{1,${HEX_COLUMNS}}`, 'g')) ?? [];
  return `${[json, ...lines].join('\n')}\n`;
}

function readGolden(path: string): GoldenEvent[] {
  const texts = readFileSync(path, 'utf8').trimEnd().split('\n\n');
  return texts.map((text) => {
    const [json, ...hex] = text.split('\n');
    return { json, hex: hex.join('') };
  });
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

function logFolders(): string[] {
  return namesIn(LOGS).filter((name) => /^\d+$/.test(name));
}

function readState(folder: string): GoldenState {
  return JSON.parse(readFileSync(join(folder, 'state.txt'), 'utf8')) as GoldenState;
}

async function coveredTypes(): Promise<Set<string>> {
  const covered = new Set<string>();
  for (const name of logFolders()) {
    for (const type of typesIn(await readGoldenLog(join(LOGS, name)))) covered.add(type);
  }
  return covered;
}
