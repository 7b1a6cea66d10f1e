import { openConnection } from './connection.ts';
import { ServerProcess } from './server-process.ts';

const BATCH = 1000;
const INPUT = { url: 'https://example.org/videos/0001.mp4', height: 720, tags: 'a'.repeat(100) };

/** Growth of the server's resident memory per queued task, without the payload. */
export async function measureMemory(tasks: number): Promise<string> {
  const server = await ServerProcess.start();
  try {
    const connection = openConnection('http1', server.url);
    const task = JSON.stringify({ type: 'bench', input: INPUT });
    const body = `[${Array.from({ length: BATCH }, () => task).join(',')}]`;
    // The first tasks allocate what every server needs once: code, buffers, the young generation.
    const warmUp = 20;
    for (let sent = 0; sent < warmUp; sent++) await connection.post('/v1/tasks', body);
    const before = await server.residentBytes();
    for (let sent = 0; sent < tasks / BATCH; sent++) await connection.post('/v1/tasks', body);
    const grown = (await server.residentBytes()) - before;
    connection.close();

    const payloadBytes = JSON.stringify(INPUT).length;
    const each = grown / tasks;
    return (
      `memory: ${tasks} queued tasks with ${payloadBytes} bytes of input: ` +
      `${each.toFixed(0)} bytes each, ${(each - payloadBytes).toFixed(0)} beside the payload`
    );
  } finally {
    await server.stop();
  }
}
