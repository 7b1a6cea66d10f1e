/** Calls `act` once when the signal aborts. Returns a function that forgets it. */
export function stopOn(stop: AbortSignal, act: () => Promise<void>): () => void {
  const told = () => void act();
  if (stop.aborted) told();
  stop.addEventListener('abort', told, { once: true });
  return () => stop.removeEventListener('abort', told);
}
