import type { Slot } from '../base/ids.ts';
import { RUNS_SCHEMA, SCHEDULES_SCHEMA, SnapshotError } from '../snapshot/snapshot-archive.ts';
import type { Archive } from '../structures/archive.ts';
import type { Arena, PayloadColumn } from '../structures/arena.ts';
import { persistLists } from '../structures/task-list.ts';
import { isRunOver } from '../workflow/run-state.ts';
import {
  RUN_INPUT_PAYLOAD,
  runPayloads,
  SCHEDULE_PAYLOAD,
  STEP_OUTPUT_PAYLOAD,
  schedulePayloads,
  stepPayloads,
  taskPayloads,
} from './payload-columns.ts';
import type { Programs } from './runs/programs.ts';
import type { Runs } from './runs/runs.ts';
import { persistSharedTexts } from './shared-texts.ts';
import type { State } from './state.ts';

/**
 * Persists every part of the state, one section each; a part comes after those that it needs.
 *
 * A part that is added to `State` gets a line here; a test compares the two lists. What is
 * persisted depends only on the applied events. So an executed, a replayed and a loaded state give
 * the same snapshot, byte for byte, and the same hash.
 */
export function persistState(state: State, archive: Archive): void {
  for (const [name, persist] of Object.entries(SECTIONS)) {
    if ((ADDED_BY[name] ?? 0) > archive.schema) continue;
    archive.section(name);
    persist(state, archive);
  }
}

export const SECTIONS: Readonly<Record<string, (state: State, archive: Archive) => void>> = {
  counters: (state, archive) => {
    const partition = archive.number('partition', state.partition);
    if (partition !== state.partition) {
      throw new SnapshotError(`it is of partition ${partition}, not of ${state.partition}`);
    }
    state.persistCounters(archive);
  },
  tasks: (state, archive) => state.tasks.persist(archive),
  payloads: ({ tasks, payloads }, archive) =>
    persistPayloads(archive, payloads, {
      columns: taskPayloads(tasks),
      first: 0,
      used: tasks.used,
    }),
  namespaces: (state, archive) => state.namespaces.persist(archive),
  queueTable: (state, archive) => state.queueTable.persist(archive),
  holders: (state, archive) => state.holders.persist(archive),
  finished: (state, archive) => persistLists(archive, 'ends', [state.finished]),
  deadLetters: (state, archive) => state.deadLetters.persist(archive),
  taskTypes: (state, archive) => state.taskTypes.persist(archive),
  redrives: (state, archive) => state.redrives.persist(archive),
  outbox: (state, archive) => state.outbox.persist(archive),
  accessKeys: (state, archive) => state.accessKeys.persist(archive),
  audit: (state, archive) => state.audit.persist(archive),
  texts: (state, archive) => persistSharedTexts(state.texts, archive),
  timers: (state, archive) => state.timers.persist(archive, state.tasks.used),
  dedupe: (state, archive) => state.dedupe.persist(archive),
  changes: (state, archive) => state.changes.persist(archive),
  programs: (state, archive) => state.programs.persist(archive),
  runs: ({ runs, programs, payloads }, archive) => {
    runs.persist(archive);
    if (archive.isLoading) countOpenRuns(runs, programs);
    const columns = runPayloads(runs);
    const { used } = runs.table;
    persistPayloads(archive, payloads, { columns, first: RUN_INPUT_PAYLOAD, used });
    const ofSteps = { columns: stepPayloads(runs), first: STEP_OUTPUT_PAYLOAD };
    persistPayloads(archive, payloads, { ...ofSteps, used: runs.steps.used });
  },
  schedules: ({ schedules, payloads, namespaces }, archive) => {
    schedules.persist(archive);
    const columns = schedulePayloads(schedules);
    const { used } = schedules.table;
    persistPayloads(archive, payloads, { columns, first: SCHEDULE_PAYLOAD, used });
    if (!archive.isLoading) return;
    schedules.rebuild();
    const { number, namespace } = schedules.table;
    for (let slot = 0; slot < used; slot++) {
      if (number[slot] !== 0) namespaces.at(namespace[slot]).schedules += 1;
    }
  },
};

function countOpenRuns(runs: Runs, programs: Programs): void {
  const { number, state, program, used } = runs.table;
  for (let slot = 0; slot < used; slot++) {
    const isOpen = number[slot] !== 0 && !isRunOver(state[slot]);
    if (isOpen) runs.countOpen(programs.at(program[slot]).namespace, 1);
  }
}

/** The schema that added a section, where it is not as old as the others. */
const ADDED_BY: Readonly<Record<string, number>> = {
  programs: RUNS_SCHEMA,
  runs: RUNS_SCHEMA,
  schedules: SCHEDULES_SCHEMA,
};

interface Persisted {
  readonly columns: readonly PayloadColumn[];
  /** Index of the first of these columns in the arena. */
  readonly first: number;
  readonly used: number;
}

/** In slot order, because places in the arena are not part of the state. */
function persistPayloads(archive: Archive, payloads: Arena, persisted: Persisted): void {
  const { columns, first, used } = persisted;
  columns.forEach(({ name, references, lengths }, index) => {
    let total = 0;
    let longest = 0;
    for (let slot = 0; slot < used; slot++) {
      total += lengths[slot];
      longest = Math.max(longest, lengths[slot]);
    }
    archive.bytes(name, total);
    const loaded = new Uint8Array(archive.isLoading ? longest : 0);
    for (let slot = 0; slot < used; slot++) {
      const length = lengths[slot];
      if (length === 0) continue;
      if (archive.isLoading) {
        archive.run(loaded, 0, length);
        payloads.load(first + index, slot as Slot, loaded);
      } else {
        const start = payloads.startOf(references[slot]);
        archive.run(payloads.bytesOf(references[slot]), start, start + length);
      }
    }
  });
}
