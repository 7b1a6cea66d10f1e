/**
 * How a run that another run started is related to it, with its number in columns and in the log.
 * A number never changes its meaning; new ones go to the end.
 */
export const RUN_RELATIONS = ['', 'sub_workflow', 'start_workflow', 'failure_workflow'] as const;

/** A step of the parent waits for its end. */
export const SUB_RUN = RUN_RELATIONS.indexOf('sub_workflow');
/** Nobody waits for it. */
export const STARTED_RUN = RUN_RELATIONS.indexOf('start_workflow');

/** The parent failed. Nobody waits for it, and its own failure starts nothing. */
export const FAILURE_RUN = RUN_RELATIONS.indexOf('failure_workflow');

/** Bound on the runs above a run: a workflow that calls itself for ever fails. */
export const RUN_DEPTH_MAX = 32;
