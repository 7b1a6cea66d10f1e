/**
 * Every metric, with its type and meaning. Dashboards and alerts rely on the names, so a name never
 * changes its meaning. docs/metrics.md has the same table.
 */
export const METRIC_FAMILIES = {
  sluice_tasks_submitted_total: ['counter', 'Tasks that were accepted'],
  sluice_tasks_deduplicated_total: [
    'counter',
    'Submits that returned an existing task because of their dedupe key',
  ],
  sluice_tasks_leased_total: ['counter', 'Leases that were granted'],
  sluice_runs_overdue_total: [
    'counter',
    'Runs that took longer than their timeout with ALERT_ONLY',
  ],
  sluice_tasks_finished_total: ['counter', 'Tasks that ended, by outcome'],
  sluice_task_queue_seconds: ['histogram', 'Time from ready to leased'],
  sluice_task_lease_seconds: ['histogram', 'Time from the last lease to the end of the task'],
  sluice_tasks: ['gauge', 'Tasks in memory, including finished ones'],
  sluice_tasks_queued: ['gauge', 'Tasks that are ready and wait for a worker, by priority'],
  sluice_tasks_finished: ['gauge', 'Finished tasks in memory, without dead letters'],
  sluice_dead_letters: ['gauge', 'Dead letters: tasks that failed or timed out for good'],
  sluice_dedupe_keys: ['gauge', 'Stored dedupe keys'],
  sluice_type_queued: [
    'gauge',
    'Tasks that are ready and wait for a worker, for the 200 task types with most tasks',
  ],
  sluice_type_oldest_seconds: ['gauge', 'How long the oldest of these tasks has waited'],
  sluice_type_running: ['gauge', 'Tasks that workers hold, by task type'],
  sluice_type_dead_letters: ['gauge', 'Dead letters, by task type'],
  sluice_type_attempts_total: ['counter', 'Attempts that ended, by task type and outcome'],
  sluice_type_wait_seconds: ['histogram', 'Time from ready to leased, by task type'],
  sluice_type_duration_seconds: [
    'histogram',
    'Time from the start of an attempt to its end, by task type, without lost workers',
  ],
  sluice_leases_lost_total: [
    'counter',
    'Leases that ended because their worker went away without an answer',
  ],
  sluice_quota_used: [
    'gauge',
    'What a namespace uses of a quota, for the 200 namespaces with most tasks',
  ],
  sluice_quota_max: ['gauge', 'What one namespace may use, by quota'],
  sluice_worker_sessions: [
    'gauge',
    'Worker sessions by state: connected, draining (connected, gets no new tasks), away',
  ],
  sluice_payload_bytes: ['gauge', 'Bytes of payloads in memory'],
  sluice_payload_chunks: ['gauge', 'Memory chunks that hold payloads'],
  sluice_schedules: ['gauge', 'Schedules, by state: active, paused, completed'],
  sluice_schedule_fires_total: [
    'counter',
    'Fires that made a task or run, by cause: time, trigger, backfill, replica',
  ],
  sluice_schedule_skips_total: ['counter', 'Fires that made nothing, by reason'],
  sluice_schedule_delays_total: [
    'counter',
    'Fires that found no room in memory, or whose replica was refused, and were put off',
  ],
  sluice_schedule_late_seconds: ['histogram', 'Time from the due time of a fire to the fire'],
  sluice_callbacks_total: ['counter', 'Attempts to deliver callbacks, by outcome'],
  sluice_callback_seconds: [
    'histogram',
    'Time from the request of a callback to the end of its answer',
  ],
  sluice_callbacks_pending: ['gauge', 'Pending callbacks'],
  sluice_callbacks_given_up: ['gauge', 'Callbacks that were given up and can be redelivered'],
  sluice_callbacks_dropped: [
    'gauge',
    'Callbacks that were given up and then removed because there were too many, ever',
  ],
  sluice_callbacks_oldest_seconds: ['gauge', 'Age of the oldest pending callback'],
  sluice_commit_seconds: ['histogram', 'Time until a batch of the log is durable'],
  sluice_commit_records: [
    'histogram',
    'Records per batch of the log, about one per request that changed something',
  ],
  sluice_commit_outstanding_seconds: [
    'gauge',
    'Age of the running append to the log; 0 if there is none',
  ],
  sluice_log_bytes_total: ['counter', 'Bytes that were appended to the log'],
  sluice_log_full: ['gauge', '1 while the disk is full'],
  sluice_disk_free_bytes: ['gauge', 'Free bytes of the disk that has the data folder'],
  sluice_disk_bytes: ['gauge', 'Size of that disk'],
  sluice_clock_ahead_seconds: ['gauge', 'Wall clock minus the time of the server'],
  sluice_clock_jump_refused: ['gauge', '1 while a jump of the wall clock is not followed'],
  sluice_projection_lag_seconds: ['gauge', 'How far search is behind the log'],
  sluice_projection_lag_records: ['gauge', 'How far search is behind the log, in records'],
  sluice_projection_ok: ['gauge', '0 while the files for search cannot be read or written'],
  sluice_projection_ended: ['gauge', '1 if search has stopped until the next start'],
  sluice_projection_left_out_total: [
    'counter',
    'Unreadable files, rows and events that search skipped, by kind',
  ],
  sluice_projection_bytes: ['gauge', 'Bytes of the files for search'],
  sluice_blobs: ['gauge', 'Blobs: counted every hour, plus uploads since then'],
  sluice_blob_bytes: ['gauge', 'Bytes of these blobs'],
  sluice_snapshots_total: ['counter', 'Snapshots, by outcome'],
  sluice_http_request_seconds: [
    'histogram',
    'Time from the headers of a request to its answer, by method and route, without streams',
  ],
  sluice_http_refused_total: ['counter', 'Requests and connections that were refused, by code'],
  sluice_http_connections: ['gauge', 'Open connections'],
  sluice_event_loop_lag_seconds: ['histogram', 'Delay of a 100 ms timer'],
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
