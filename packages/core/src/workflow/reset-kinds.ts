/**
 * What becomes of a step of a run that was revived. A number never changes its meaning.
 *
 * - `again`: it begins as if it had never begun.
 * - `runs_on`: a loop waits for its body again.
 * - `due_on`: a loop decides again whether it goes on.
 */
export const RESET_KINDS = ['again', 'runs_on', 'due_on'] as const;

export const RESET_AGAIN = RESET_KINDS.indexOf('again');
export const RESET_RUNS_ON = RESET_KINDS.indexOf('runs_on');
export const RESET_DUE_ON = RESET_KINDS.indexOf('due_on');
