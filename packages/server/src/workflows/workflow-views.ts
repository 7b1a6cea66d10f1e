import type { ReadonlyState, StoredProgram } from '@sluice/core';
import { SluiceError } from '@sluice/protocol';
import { timeText } from '../base/time-text.ts';

/** A workflow with its versions, newest first; undefined when it has none. */
export function workflowView(
  { programs }: ReadonlyState,
  namespace: string,
  name: string,
): object | undefined {
  const its = programs.registered(namespace).filter((each) => each.name === name);
  return its.length === 0 ? undefined : { name, versions: its.toReversed().map(versionView) };
}

/** One version as JSON text. The definition is copied in as it is stored. */
export function definitionJson(program: StoredProgram): string {
  const view = JSON.stringify({ name: program.name, ...versionView(program) });
  return `${view.slice(0, -1)},"definition":${program.text}}`;
}

/** The definition of a run as JSON text. */
export function definitionOfRun({ name, version, text }: StoredProgram): string {
  const view = JSON.stringify({ workflow: name, version: version === 0 ? null : version });
  return `${view.slice(0, -1)},"definition":${text}}`;
}

function versionView({ version, hash, scopes, registeredAt }: StoredProgram): object {
  // What stands for the branches of a dynamic fork awaits nothing, and is not in the definition.
  const steps = scopes.flatMap(({ arrivals }) => arrivals.filter((count) => count > 0)).length;
  return { version, hash, steps, registeredAt: timeText(registeredAt) };
}

export function workflowNotFound(name: string, version = 0): SluiceError {
  const which = version === 0 ? '' : ` with version ${version}`;
  return new SluiceError('workflow_not_found', `no workflow '${name}'${which}`);
}

export function tooManyWorkflows(): SluiceError {
  const message = 'the server has the maximum number of workflow definitions; delete some of them';
  return new SluiceError('too_many_workflows', message, { retryAfterMs: 1000 });
}
