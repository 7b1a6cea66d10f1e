/** Items of one request. */
const BATCH = 1000;
/** Requests under way at once. */
const AT_ONCE = 4;

async function send(url: string, method: string, body: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok || text.includes('"error":{')) throw new Error(`${url}: ${text.slice(0, 300)}`);
  return text;
}

interface Target {
  readonly url: string;
  readonly method?: string;
  /** Gets each answer, and the number of its first item. */
  readonly heard?: (answer: string, from: number) => void;
}

/** Sends `count` items in batches, several at once; returns the items per second. */
export async function sendAll(
  { url, method = 'POST', heard = () => undefined }: Target,
  count: number,
  item: (n: number) => object,
): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < count) {
      const from = next;
      next = Math.min(count, from + BATCH);
      const items = Array.from({ length: next - from }, (_, n) => item(from + n));
      heard(await send(url, method, items), from);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return count / ((performance.now() - startedAt) / 1000);
}

export async function getJson<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
