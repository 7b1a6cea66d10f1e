import type { EngineNotice } from '@sluice/engine';
import { ERROR_CODES, type ErrorCode } from '@sluice/protocol';
import type { DiskSpace } from '../base/disk-space.ts';
import type { BlobTotals } from '../blobs/blob-store.ts';
import type { ClockStatus } from '../clock/steady-clock.ts';
import type { ProjectionNotice } from '../projection/projection.ts';
import type { ProjectionStatus } from '../projection/projection-status.ts';
import type { Exposition, Labels } from './exposition.ts';
import { Histogram, LATENCY_BOUNDS_MS } from './histogram.ts';
import { CommitMetrics } from './measured-log.ts';

/** How often the event-loop delay is sampled. */
const LAG_EVERY_MS = 100;

interface Surroundings {
  readonly connections: number;
  readonly logIsFull: boolean;
  /** Undefined while the disk does not respond. */
  readonly disk: DiskSpace | undefined;
  readonly clock: ClockStatus;
  readonly projection: ProjectionStatus;
  readonly blobs: BlobTotals;
}

/** Metrics of the process and its environment. Only `disk` needs one that responds. */
export class ServerMetrics {
  readonly commits = new CommitMetrics();
  private readonly snapshots = { saved: 0, failed: 0, unusable: 0 };
  private readonly leftOut = { file: 0, row: 0, event: 0 };
  private readonly refusals = new Map<ErrorCode, number>();
  private readonly routes: [Labels, Histogram][] = [];
  private readonly lagMs = new Histogram(LATENCY_BOUNDS_MS);
  private readonly lagTimer: NodeJS.Timeout;
  private readonly version: string;

  constructor(version: string) {
    this.version = version;
    for (const code of Object.keys(ERROR_CODES)) this.refusals.set(code as ErrorCode, 0);
    let due = performance.now() + LAG_EVERY_MS;
    this.lagTimer = setInterval(() => {
      const now = performance.now();
      this.lagMs.observe(Math.max(0, now - due));
      due = now + LAG_EVERY_MS;
    }, LAG_EVERY_MS);
    this.lagTimer.unref();
  }

  close(): void {
    clearInterval(this.lagTimer);
  }

  /** The histogram of a route's request times, in milliseconds: one, whoever asks for it. */
  route(method: string, route: string): Histogram {
    const isIt = ([labels]: [Labels, Histogram]) =>
      labels.method === method && labels.route === route;
    const known = this.routes.find(isIt);
    if (known !== undefined) return known[1];
    const histogram = new Histogram(LATENCY_BOUNDS_MS);
    this.routes.push([{ method, route }, histogram]);
    return histogram;
  }

  refused(code: ErrorCode): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }

  noticed({ type }: EngineNotice): void {
    if (type === 'snapshot_saved') this.snapshots.saved += 1;
    if (type === 'fold_failed') this.snapshots.failed += 1;
    if (type === 'snapshot_unusable') this.snapshots.unusable += 1;
  }

  projected(type: ProjectionNotice['type']): void {
    if (type === 'day_set_aside' || type === 'mark_set_aside') this.leftOut.file += 1;
    if (type === 'row_set_aside' || type === 'record_left_out') this.leftOut.row += 1;
    if (type === 'event_left_out') this.leftOut.event += 1;
  }

  write(out: Exposition, now: Surroundings): void {
    const { commits } = this;
    const { appendingSince } = commits;
    const outstandingMs = appendingSince === undefined ? 0 : performance.now() - appendingSince;
    out.histograms('sluice_commit_seconds', [[{}, commits.latencyMs]], 0.001);
    out.histograms('sluice_commit_records', [[{}, commits.records]], 1);
    out.value('sluice_commit_outstanding_seconds', outstandingMs / 1000);
    out.value('sluice_log_bytes_total', commits.bytes);
    out.value('sluice_log_full', now.logIsFull ? 1 : 0);
    if (now.disk !== undefined) {
      out.value('sluice_disk_free_bytes', now.disk.freeBytes);
      out.value('sluice_disk_bytes', now.disk.totalBytes);
    }
    out.value('sluice_clock_ahead_seconds', now.clock.wallAheadMs / 1000);
    out.value('sluice_clock_jump_refused', now.clock.state === 'jump_refused' ? 1 : 0);
    out.value('sluice_projection_lag_seconds', now.projection.lagMs / 1000);
    out.value('sluice_projection_lag_records', now.projection.lagRecords);
    out.value('sluice_projection_ok', now.projection.state === 'ok' ? 1 : 0);
    out.value('sluice_projection_ended', now.projection.state === 'ended' ? 1 : 0);
    out.values('sluice_projection_left_out_total', labelled('kind', Object.entries(this.leftOut)));
    out.value('sluice_projection_bytes', now.projection.bytes);
    out.value('sluice_blobs', now.blobs.count);
    out.value('sluice_blob_bytes', now.blobs.bytes);
    out.values('sluice_snapshots_total', labelled('outcome', Object.entries(this.snapshots)));
    out.histograms('sluice_http_request_seconds', this.routes, 0.001);
    out.values('sluice_http_refused_total', labelled('code', this.refusals));
    out.value('sluice_http_connections', now.connections);
    out.histograms('sluice_event_loop_lag_seconds', [[{}, this.lagMs]], 0.001);
    this.writeProcess(out);
  }

  private writeProcess(out: Exposition): void {
    const memory = process.memoryUsage();
    const cpu = process.cpuUsage();
    const { active } = performance.eventLoopUtilization();
    out.value('sluice_event_loop_busy_seconds_total', active / 1000);
    out.values('sluice_process_cpu_seconds_total', [
      [{ mode: 'user' }, cpu.user / 1e6],
      [{ mode: 'system' }, cpu.system / 1e6],
    ]);
    out.values(
      'sluice_memory_bytes',
      labelled('kind', [
        ['rss', memory.rss],
        ['heap_total', memory.heapTotal],
        ['heap_used', memory.heapUsed],
        ['array_buffers', memory.arrayBuffers],
      ]),
    );
    out.value('sluice_start_time_seconds', performance.timeOrigin / 1000);
    out.values('sluice_info', [[{ version: this.version }, 1]]);
  }
}

function labelled(
  name: string,
  values: Iterable<readonly [string, number]>,
): (readonly [Labels, number])[] {
  return Array.from(values, ([text, value]) => [{ [name]: text }, value] as const);
}
