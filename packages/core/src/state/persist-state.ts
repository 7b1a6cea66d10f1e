import type { Slot } from '../base/ids.ts';
import { SnapshotError } from '../snapshot/snapshot-archive.ts';
import type { Archive } from '../structures/archive.ts';
import { persistLists } from '../structures/task-list.ts';
import { payloadColumns } from './payload-columns.ts';
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
  payloads: persistPayloads,
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
};

/** In slot order, because places in the arena are not part of the state. */
function persistPayloads({ tasks, payloads }: State, archive: Archive): void {
  payloadColumns(tasks).forEach(({ name, references, lengths }, column) => {
    let total = 0;
    let longest = 0;
    for (let slot = 0; slot < tasks.used; slot++) {
      total += lengths[slot];
      longest = Math.max(longest, lengths[slot]);
    }
    archive.bytes(name, total);
    const loaded = new Uint8Array(archive.isLoading ? longest : 0);
    for (let slot = 0; slot < tasks.used; slot++) {
      const length = lengths[slot];
      if (length === 0) continue;
      if (archive.isLoading) {
        archive.run(loaded, 0, length);
        payloads.load(column, slot as Slot, loaded);
      } else {
        const start = payloads.startOf(references[slot]);
        archive.run(payloads.bytesOf(references[slot]), start, start + length);
      }
    }
  });
}
