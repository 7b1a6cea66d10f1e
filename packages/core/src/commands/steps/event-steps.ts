import { runIdOf } from '../../decision/runs/child-id.ts';
import { ValueError } from '../../expressions/json-writer.ts';
import type { Template } from '../../expressions/template.ts';
import { type Sink, sinkOf } from '../../workflow/event-fields.ts';
import { isObject } from '../../workflow/problems.ts';
import { STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import { endStep, type StepVisit } from '../runs/end-steps.ts';
import { correlationOf } from './child-runs.ts';
import { fillAndParse, fillInput, jsonBytes, parsed } from './fill-template.ts';
import { startStep } from './waiting-steps.ts';

/** Where the event of this step goes. */
export function sinkOfStep(at: StepVisit): Sink {
  const { decision, node, run } = at;
  const { programs, runs } = decision.state;
  const { name: workflow } = programs.at(runs.table.program[run]);
  const sink = fillAndParse(decision, at, node.sink as Template);
  const found = sinkOf(sink, { workflow, reference: node.reference });
  if (typeof found === 'string') throw new ValueError('bad_value', found);
  return found;
}

/**
 * Publishes an event: the end of the step is the event. Readers of the log find it in the output,
 * with the fields that Conductor adds. With `asyncComplete` it is the start of the step, and in the
 * input.
 */
export function publish(at: StepVisit, name: string): void {
  const { decision, node, run } = at;
  const { state } = decision;
  const { name: workflowType, version } = state.programs.at(state.runs.table.program[run]);
  const input = parsed(decision, fillInput(at));
  const output = {
    ...(isObject(input) ? input : { input }),
    workflowInstanceId: runIdOf(state, run),
    workflowType,
    workflowVersion: version,
    correlationId: correlationOf(at) || null,
    event_produced: name,
  };
  const event = jsonBytes(decision, output);
  if (node.isAsync) startStep(at, { input: event });
  else endStep(at, { state: STEP_SUCCEEDED, output: event, nexts: node.nexts });
}
