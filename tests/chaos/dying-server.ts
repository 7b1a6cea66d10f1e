/**
 * The real server with one addition: SIGUSR2 arms it. It then dies right after its next append is
 * durable. Everything that this commit would have released stays inside.
 */
import type {
  AppendOutcome,
  BoundedLog,
  LogBatch,
  LogHold,
  LogTrim,
  OnBatch,
  TrimOutcome,
} from '@sluice/log';
import { Server } from '@sluice/server';

class DyingLog implements BoundedLog {
  private readonly inner: BoundedLog;
  isArmed = false;

  constructor(inner: BoundedLog) {
    this.inner = inner;
  }

  get isFull(): boolean {
    return this.inner.isFull;
  }

  acquire(): Promise<LogHold> {
    return this.inner.acquire();
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    const outcome = await this.inner.append(batch);
    if (this.isArmed) process.kill(process.pid, 'SIGKILL');
    return outcome;
  }

  read(from: number, onBatch: OnBatch): Promise<void> {
    return this.inner.read(from, onBatch);
  }

  trim(trim: LogTrim): Promise<TrimOutcome> {
    return this.inner.trim(trim);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

process.on('SIGUSR2', () => {
  if (log === undefined) throw new Error('the log is not open yet');
  log.isArmed = true;
  process.stdout.write('armed\n');
});

let log: DyingLog | undefined;
const server = await Server.start({
  host: '127.0.0.1',
  port: 0,
  dataFolder: process.argv[2],
  version: '0.1.0',
  onFatal: (cause) => {
    throw cause;
  },
  wrapLog: (inner) => {
    log = new DyingLog(inner);
    return log;
  },
});
process.stdout.write(`The dying server is ready at ${server.url}\n`);
