/** The newest that a pool holds; older ones make room. */
const POOL_MAX = 200;

/** Sessions are few, so that most of them are still there. */
const SESSIONS_MAX = 10;

const TASK_ID = /t_[0-9a-v]{20}/g;

/** What the server told of, so that not every request is about something unknown. */
export class KnownThings {
  readonly tasks: string[] = [];
  /** Tasks that a worker was given. */
  readonly held: string[] = [];
  readonly sessions: string[] = [];
  readonly leases: string[] = [];
  readonly types: string[] = ['a', 'b', 'c', 'd', 'e', 'f'];
  /** The session that each lease was given to. */
  private readonly holders = new Map<string, string>();
  /** Every task whose submit was acknowledged. */
  readonly acknowledged = new Set<string>();

  /** Whatever an answer names. */
  learn(text: string): void {
    for (const [id] of text.matchAll(TASK_ID)) keep(this.tasks, id, POOL_MAX);
  }

  /** What arrives on the stream of a session; its id, which the first event tells. */
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

  /** The session that was given the first lease that a body names. */
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
