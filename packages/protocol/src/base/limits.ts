/** Bounds of the protocol that clients and server share. */
export const LIMITS = {
  bodyBytesMax: 4 * 1024 * 1024,
  batchTasksMax: 1000,
  batchRunsMax: 1000,
  batchSchedulesMax: 1000,
  /** Per permanent schedule. */
  replicasMax: 1000,
  /** Shorter periods of schedules need `allowFast`. */
  everyMsMin: 100,
  /** Maximum size of a workflow definition as JSON text. */
  definitionBytesMax: 1024 * 1024,
  workflowVersionMax: 999_999_999,
  pageDefault: 50,
  pageMax: 1000,
  payloadBytesMax: 256 * 1024,
  /** Maximum size of a blob. */
  blobBytesMax: 64 * 1024 * 1024,
  /**
   * Nesting of arrays and objects. Deeper values are no real data, and break parsers in other
   * languages, so that workers would fail on them.
   */
  payloadDepthMax: 500,
  /** A year and a leap day. */
  delayMsMax: 366 * 86_400_000,
  /** The largest whole number that JSON, the log and JavaScript all keep exactly. */
  numberMax: Number.MAX_SAFE_INTEGER,
  /** The end of the year 9999. */
  timeMsMax: 253_402_300_799_999,
  dedupeWindowMsMin: 1000,
  dedupeWindowMsMax: 30 * 86_400_000,
  dedupeWindowMsDefault: 86_400_000,
  graceMsDefault: 10_000,
  graceMsMax: 3_600_000,
  waitMsMax: 60_000,
  waitMsDefault: 30_000,
  leaseMsMin: 3000,
  leaseMsMax: 600_000,
  leaseMsDefault: 15_000,
  slotsMax: 10_000,
  slotsDefault: 100,
  typesPerWorkerMax: 1000,
  reportsMax: 10_000,
  /** Per report. */
  logLinesMax: 1000,
  logLineLengthMax: 16_384,
  /** Per answer. */
  logLinesDefault: 1000,
  logLinesShownMax: 10_000,
  /** Per kind; small enough for sums of thousandths to stay exact. */
  resourceMax: 100_000_000,
  customResourcesMax: 16,
  constraintsMax: 32,
  labelsMax: 64,
  keyLifeMsMin: 1000,
  /** Ten years. */
  keyLifeMsMax: 3653 * 86_400_000,
  keyOverlapMsDefault: 86_400_000,
  /** Arguments of a command. */
  execArgumentsMax: 1024,
  /** Characters of one argument, variable or file of a command. */
  execTextMax: 131_072,
} as const;

/** A worker stream that has been silent for this long gets a `ping`. */
export const PING_AFTER_MS = 5000;
