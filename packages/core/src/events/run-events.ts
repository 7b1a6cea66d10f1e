import {
  byte,
  claim,
  type EventDeclaration,
  flag,
  hiddenText,
  number,
  numbers,
  pieces,
  relationNumber,
  runReasonNumber,
  runStateNumber,
  stateNumber,
  stepStateNumber,
  text,
} from './fields.ts';
import { TASK_DETAILS } from './task-events.ts';

/**
 * The task of a step was accepted. Slot and task name the task, as in `task_submitted`. It is a
 * separate event, so that plain tasks have no fields for steps.
 */
export const STEP_TASK_EVENTS = {
  step_submitted: {
    number: 30,
    version: 1,
    fields: {
      /** Slot of the step. */
      step: number,
      /** Number of the run. */
      run: number,
      reference: text,
      /** When it may run; 0 for immediately. */
      runAt: number,
      ...TASK_DETAILS,
      input: pieces,
    },
  },
} as const satisfies Record<string, EventDeclaration>;

/** What is said of a run that starts, after the claim of its key. */
const RUN_CONTENT = {
  correlation: text,
  tags: text,
  /** The variables at the start. */
  variables: pieces,
  input: pieces,
} as const;

/** What is said of a run that starts. */
const RUN_DETAILS = {
  program: number,
  /** Slot of its first step. */
  base: number,
  priority: byte,
  /** When it times out; 0 for never. */
  until: number,
  dedupe: claim,
  ...RUN_CONTENT,
} as const;

/**
 * Events about workflows and runs. Slot and task are 0 for workflows. For runs the slot is the
 * run's, for steps the step's; task is the number of the run.
 */
export const RUN_EVENTS = {
  /** A definition is known from now on: registered, or sent along with a run. */
  workflow_registered: {
    number: 70,
    version: 1,
    fields: {
      /** Place among the definitions. */
      program: number,
      namespace: text,
      name: text,
      /** 0 for a definition that came with a run. */
      workflowVersion: number,
      /** Hash of the text. */
      hash: text,
      /** Number of steps in each scope: the definition itself, then the body of each loop. */
      sizes: numbers,
      /** Steps of each scope that have a task: there is room for all of them before it begins. */
      tasks: numbers,
      /** Arrivals that each step waits for, so that replay needs no compiler. */
      arrivals: numbers,
      /** The definition as JSON text. */
      text,
    },
  },

  /** A version was deleted. Its runs go on. */
  workflow_removed: { number: 71, version: 1, fields: { program: number } },

  run_started: { number: 72, version: 1, fields: RUN_DETAILS },

  /** A step without a task began, or a loop asks for its condition. */
  step_started: {
    number: 73,
    version: 1,
    fields: {
      kind: byte,
      reference: text,
      /** When a WAIT is over; 0 for when it is told so. */
      until: number,
      /** Number of the evaluation whose result it waits for; 0 for none. */
      evaluation: number,
      /** Length of the list that a loop goes over. */
      items: number,
      input: pieces,
    },
  },

  /** A step ended, by itself or after its task. */
  step_ended: {
    number: 74,
    version: 1,
    fields: {
      /** Number of its kind, and its reference. */
      kind: byte,
      reference: text,
      state: stepStateNumber,
      reason: runReasonNumber,
      /** Whether the run goes on although the step failed, to fail at its end. */
      isTolerated: flag,
      /** Its output; empty for a step with a task, which has it. */
      output: pieces,
      /** Slots of the steps that it arrives at. */
      nexts: numbers,
    },
  },

  /** A loop begins an iteration: there are slots for the steps of its body. */
  frame_opened: {
    number: 75,
    version: 1,
    fields: {
      scope: number,
      /** Slot of its first step. */
      base: number,
      /** From 1 on. */
      iteration: number,
      /** Start of the oldest frame plus one, if it goes; 0 if none does. */
      dropped: number,
    },
  },

  /** A dynamic fork ended: its branches may begin, and its join waits for all of them. */
  branches_opened: {
    number: 84,
    version: 1,
    fields: {
      scope: number,
      /** Slot of the first branch. */
      base: number,
      count: number,
      /** Branches that have a task: there is room for all of them. */
      tasks: number,
      /** Slot of the join. */
      join: number,
    },
  },

  /** The task of a step is asked to stop, because its run stops. */
  step_stopping: { number: 76, version: 1, fields: {} },

  /** Steps of a run that was revived begin again, or go on. */
  steps_reset: {
    number: 77,
    version: 1,
    fields: {
      /** Slots of the steps. */
      steps: numbers,
      /** For each: the arrivals that it waits for; it is due when there are none. */
      waiting: numbers,
      /** For each: a number of `RESET_KINDS`. */
      kinds: numbers,
      /** Frames of loops and forks that go: pairs of first slot and size, inner ones first. */
      frames: numbers,
      /** Replaces what the first step would get as its input; empty if it does not. */
      input: pieces,
    },
  },

  /** A run that had ended goes on. */
  run_revived: {
    number: 85,
    version: 1,
    fields: {
      /** When it times out; 0 for never. */
      until: number,
      /** Tasks that its steps may submit from now on. */
      tasks: number,
      /** Whether it begins anew, with these variables. */
      isRestarted: flag,
      variables: pieces,
    },
  },

  /** A run was paused or resumed. */
  run_changed: {
    number: 78,
    version: 1,
    fields: {
      state: runStateNumber,
      /** When it times out from now on; 0 for never. */
      until: number,
    },
  },

  /** From now on the outcome of the run is fixed. What still runs is stopped. */
  run_stopping: {
    number: 79,
    version: 1,
    fields: {
      outcome: runStateNumber,
      reason: runReasonNumber,
      /** Slot of the step that decided it plus one; 0 for none. */
      step: number,
      /** The run's output, or its error. */
      output: pieces,
    },
  },

  run_ended: {
    number: 80,
    version: 1,
    fields: {
      state: runStateNumber,
      reason: runReasonNumber,
      /** Whether `output` replaces what `run_stopping` said. */
      hasOutput: flag,
      output: pieces,
    },
  },

  /** A run took longer than it should, and goes on. */
  run_overdue: { number: 89, version: 1, fields: {} },

  /** A step that has not begun will be passed over when the run reaches it. */
  step_skip_planned: { number: 88, version: 1, fields: { reference: text } },

  /** A call with a key ended a step without a task: the same call again changes nothing. */
  step_key_kept: { number: 101, version: 1, fields: { key: number } },

  /** A receiver is to hear of the end of a run. */
  run_delivery_owed: {
    number: 87,
    version: 1,
    fields: {
      /** The state that the run ended with, as the state of a task with that name. */
      state: stateNumber,
      /** Namespace and type of the delivery. */
      taskType: text,
      /** As for tasks. */
      callback: hiddenText,
    },
  },

  /** A step, or the output of a run, needs values that are in blobs. */
  values_asked: {
    number: 86,
    version: 1,
    fields: {
      /** Slot of the step plus one; 0 for the output of the run. */
      step: number,
      reference: text,
      /** Number of the evaluation that is waited for; 0 when none is any more. */
      evaluation: number,
    },
  },

  /** A run that ended left memory, and its tasks with it. */
  run_forgotten: { number: 81, version: 1, fields: {} },

  /**
   * A run started another one. It is a separate event, so that runs without a parent have no fields
   * for it.
   */
  child_started: {
    number: 82,
    version: 1,
    fields: {
      /** Number of the parent, and when it started. */
      parent: number,
      parentAt: number,
      /** Slot of the step that started it plus one, and its reference; 0 for none. */
      step: number,
      reference: text,
      relation: relationNumber,
      /** Number of runs above it. */
      depth: byte,
      ...RUN_DETAILS,
    },
  },

  /** A run that had left memory begins anew, under the same number. */
  run_readmitted: {
    number: 100,
    version: 1,
    fields: {
      /** When it started first. */
      startedAt: number,
      /** Place of its dedupe key plus one; 0 for none. */
      dedupeEntry: number,
      /** The run that started it, as in `child_started`; 0 for none. */
      parent: number,
      parentAt: number,
      reference: text,
      relation: relationNumber,
      program: number,
      base: number,
      priority: byte,
      /** When it times out; 0 for never. */
      until: number,
      ...RUN_CONTENT,
    },
  },
} as const satisfies Record<string, EventDeclaration>;
