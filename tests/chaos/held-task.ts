/** A type that no random request uses. */
const TYPE = 'held-over-a-kill';

/** Half of this lease is not a whole number of milliseconds. A grace period is 1.5 leases. */
const ODD_LEASE_MS = 12_345;

/**
 * Submits a task that a worker holds when the server is killed. The worker never returns. A cancel
 * after the restart falls into the grace period of its session, where times are computed from half
 * a lease.
 */
export async function holdTask(url: string): Promise<string> {
  const submitted = await post(`${url}/v1/tasks`, { type: TYPE });
  const { id } = (await submitted.json()) as { id: string };
  const stream = await post(`${url}/v1/worker-sessions`, {
    name: 'holder',
    types: [{ type: TYPE }],
    capacity: { slots: 1000 },
    leaseMs: ODD_LEASE_MS,
  });
  const reader = stream.body?.getReader();
  if (reader === undefined) throw new Error('a worker session has a stream');
  const decoder = new TextDecoder();
  for (let text = ''; !text.includes(id); ) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the task was not pushed: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  // The stream stays open until the server is killed, which ends this read.
  void reader.read().catch(() => undefined);
  return id;
}

export async function cancelHeld(url: string, id: string): Promise<void> {
  const { status } = await post(`${url}/v1/tasks/${id}/cancel`, {});
  if (status !== 202) throw new Error(`a held task is asked to stop with 202, not ${status}`);
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', body: JSON.stringify(body) });
}
