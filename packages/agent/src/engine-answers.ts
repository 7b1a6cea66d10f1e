import { ContainerEngine } from './engine/container-engine.ts';
import { defaultSocket } from './host/engine-places.ts';

/** Whether this host has a container engine that answers. */
export async function engineAnswers(socket = defaultSocket()): Promise<boolean> {
  const engine = new ContainerEngine(socket);
  try {
    await engine.connect();
    return true;
  } catch {
    return false;
  } finally {
    engine.close();
  }
}
