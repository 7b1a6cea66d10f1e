/** Maximum size of a pool. The oldest entries are dropped. */
const POOL_MAX = 200;

/** Only a few sessions are kept, so that most of them still exist. */
const SESSIONS_MAX = 10;

const TASK_ID = /t_[0-9a-v]{20}/g;

/** Names from the server's answers, so that not every request is about something unknown. */
export class KnownThings {
  readonly tasks: string[] = [];
  /** Tasks that were pushed to a worker. */
  readonly held: string[] = [];
  readonly sessions: string[] = [];
  readonly leases: string[] = [];
  readonly types: string[] = ['a', 'b', 'c', 'd', 'e', 'f'];
  /** The session that received each lease. */
  private readonly holders = new Map<string, string>();
  /** Every task whose submit was acknowledged. */
  readonly acknowledged = new Set<string>();

  /** Learns all task ids in an answer. */
  learn(text: string): void {
    for (const [id] of text.matchAll(TASK_ID)) keep(this.tasks, id, POOL_MAX);
  }

  /**
   * Learns from the stream of a session. Returns the id of the session, which the first event
   * names.
   */
  learnPushed(text: string, session: string | undefined): string | undefined {
    this.learn(text);
    const id = session ?? /s_[A-Za-z0-9_-]{24}/.exec(text)?.[0];
    if (id === undefined) return undefined;
    keep(this.sessions, id, SESSIONS_MAX);
    for (const [task] of text.matchAll(TASK_ID)) keep(this.held, task, POOL_MAX);
    for (const [, lease] of text.matchAll(/"lease":"([^"]+)"/g)) {
      keep(this.leases, lease, POOL_MAX);
      this.holders.set(lease, id);
    }
    return id;
  }

  /** The session that received the first lease in a body. */
  holderIn(body: string | undefined): string | undefined {
    const [, lease = ''] = /"lease":"([^"]+)"/.exec(body ?? '') ?? [];
    return this.holders.get(lease);
  }

  acknowledge(answer: string): void {
    for (const [id] of answer.matchAll(/(?<="id":")t_[0-9a-v]{20}/g)) this.acknowledged.add(id);
  }
}

function keep(pool: string[], thing: string, max: number): void {
  if (pool.includes(thing)) return;
  pool.push(thing);
  if (pool.length > max) pool.shift();
}
