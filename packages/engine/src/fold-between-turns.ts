import { type FoldOrder, foldSnapshot, type StartFold } from './fold.ts';

/**
 * Folds between the turns of this thread, over a log and snapshots that are given: for a
 * simulation, which has no other. It holds up everything else while it applies and saves.
 */
export function foldBetweenTurns(source: Omit<FoldOrder, 'upTo'>): StartFold {
  return (upTo) => {
    let isCancelled = false;
    const refuseIfCancelled = () => {
      if (isCancelled) throw new Error('the fold was cancelled');
    };
    const readLog: FoldOrder['readLog'] = async (range) => {
      const onBatch: typeof range.onBatch = (batch) => {
        refuseIfCancelled();
        return range.onBatch(batch);
      };
      await source.readLog({ ...range, onBatch });
      // From here on it saves, which is over soon.
      refuseIfCancelled();
    };
    const done = foldSnapshot({ ...source, readLog, upTo });
    return {
      done,
      cancel: async () => {
        isCancelled = true;
        await done;
      },
    };
  };
}
