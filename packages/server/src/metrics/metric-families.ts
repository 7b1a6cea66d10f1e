/**
 * Every metric, with its type and what it says. Dashboards and alerts rely on the names: one never
 * changes its meaning. docs/metrics.md has the same table.
 */
export const METRIC_FAMILIES = {
  sluice_tasks_submitted_total: ['counter', 'Tasks that were taken on since the start'],
  sluice_tasks_deduplicated_total: ['counter', 'Submits that were recognised by their dedupe key'],
  sluice_tasks_leased_total: ['counter', 'Leases that were granted'],
  sluice_tasks_finished_total: ['counter', 'Tasks that ended, by outcome'],
  sluice_task_queue_seconds: ['histogram', 'Time from being ready to the lease'],
  sluice_task_lease_seconds: ['histogram', 'Time from the last lease to the end of the task'],
  sluice_tasks: ['gauge', 'Tasks in memory, finished ones included'],
  sluice_tasks_queued: ['gauge', 'Tasks that are ready and wait for a worker, by priority'],
  sluice_tasks_finished: ['gauge', 'Finished tasks in memory, without dead letters'],
  sluice_dead_letters: ['gauge', 'Failed and timed-out tasks that wait for somebody'],
  sluice_dedupe_keys: ['gauge', 'Dedupe keys that are remembered'],
  sluice_worker_sessions: [
    'gauge',
    'Worker sessions by state: connected, draining (connected, gets nothing more), away',
  ],
  sluice_payload_bytes: ['gauge', 'Bytes of payloads in memory'],
  sluice_payload_chunks: ['gauge', 'Pieces of memory that payloads lie in'],
  sluice_callbacks_total: ['counter', 'Tries to deliver callbacks, by outcome'],
  sluice_callback_seconds: ['histogram', 'Time from the request to the end of the answer'],
  sluice_callbacks_pending: ['gauge', 'Callbacks that are to be delivered'],
  sluice_callbacks_given_up: ['gauge', 'Callbacks that were given up and can be redelivered'],
  sluice_callbacks_dropped: [
    'gauge',
    'Callbacks that were given up and then forgotten, because there were too many, ever',
  ],
  sluice_callbacks_oldest_seconds: ['gauge', 'Age of the oldest callback that is to be delivered'],
  sluice_commit_seconds: ['histogram', 'Time until a batch of the log is durable'],
  sluice_commit_records: [
    'histogram',
    'Records of a batch, about one per request that changed something',
  ],
  sluice_commit_outstanding_seconds: [
    'gauge',
    'Age of the append that is under way; 0 without one',
  ],
  sluice_log_bytes_total: ['counter', 'Bytes that were appended to the log'],
  sluice_log_full: ['gauge', '1 while the disk is full'],
  sluice_clock_ahead_seconds: ['gauge', 'Wall clock minus the time of the server'],
  sluice_clock_jump_refused: ['gauge', '1 while a jump of the wall clock is not followed'],
  sluice_projection_lag_seconds: ['gauge', 'How far search is behind what is durable'],
  sluice_projection_lag_records: ['gauge', 'The same, in records of the log'],
  sluice_projection_ok: ['gauge', '0 while what is kept for search cannot be written or read'],
  sluice_projection_ended: ['gauge', '1 when search has ended until the next start'],
  sluice_projection_left_out_total: [
    'counter',
    'Files, rows and events that cannot be read and are left out of search, by kind',
  ],
  sluice_projection_bytes: ['gauge', 'Bytes of the files that are kept for search'],
  sluice_blobs: ['gauge', 'Large inputs and outputs, as of the last hour and what came since'],
  sluice_blob_bytes: ['gauge', 'Bytes of them'],
  sluice_snapshots_total: ['counter', 'Snapshots, by outcome'],
  sluice_http_request_seconds: [
    'histogram',
    'Time from the head of a request to its answer, by method and route; streams are left out',
  ],
  sluice_http_refused_total: ['counter', 'Requests and connections that were refused, by code'],
  sluice_http_connections: ['gauge', 'Open connections'],
  sluice_event_loop_lag_seconds: ['histogram', 'By how much a timer of 100 ms was late'],
  sluice_event_loop_busy_seconds_total: ['counter', 'Time that the main thread was busy'],
  sluice_process_cpu_seconds_total: ['counter', 'CPU time of the process, by mode'],
  sluice_memory_bytes: ['gauge', 'Memory of the process, by kind'],
  sluice_start_time_seconds: ['gauge', 'When the process started, in seconds since 1970'],
  sluice_info: ['gauge', 'Always 1; the version is a label'],
} as const satisfies Record<string, readonly ['counter' | 'gauge' | 'histogram', string]>;

export type MetricName = keyof typeof METRIC_FAMILIES;

type OfType<T extends string> = {
  [N in MetricName]: (typeof METRIC_FAMILIES)[N][0] extends T ? N : never;
}[MetricName];

export type PlainName = OfType<'counter' | 'gauge'>;
export type HistogramName = OfType<'histogram'>;
