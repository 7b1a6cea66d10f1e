import { type FoldOrder, foldSnapshot, type StartFold } from './fold.ts';

/**
 * Folds between the turns of this thread, over a given log and given snapshots. For a simulation,
 * which has only one thread. It blocks everything else while it applies and saves.
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
      // The rest is saving, which is short and not cancelled.
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
