import { CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import { ListQuery, pageOf } from '../schemas/task-operation-schemas.ts';
import {
  PutWorkflowQuery,
  VersionParams,
  WorkflowChange,
  WorkflowDefinition,
  WorkflowParams,
  WorkflowVersionView,
  WorkflowView,
} from '../schemas/workflow-schemas.ts';

/** Calls about the definitions of workflows. */
export const WORKFLOW_ROUTES = {
  listWorkflows: {
    method: 'GET',
    path: '/v1/workflows',
    access: 'read',
    summary: 'List the workflows with their versions',
    query: ListQuery,
    answers: { 200: pageOf(WorkflowView) },
    errors: READ_ERRORS,
  },
  getWorkflow: {
    method: 'GET',
    path: '/v1/workflows/{name}',
    access: 'read',
    summary: 'List the versions of a workflow',
    params: WorkflowParams,
    answers: { 200: WorkflowView },
    errors: [...READ_ERRORS, 'workflow_not_found'],
  },
  getWorkflowVersion: {
    method: 'GET',
    path: '/v1/workflows/{name}/versions/{version}',
    access: 'read',
    summary: 'Read a version of a workflow',
    params: VersionParams,
    answers: { 200: WorkflowVersionView },
    errors: [...READ_ERRORS, 'workflow_not_found'],
  },
  putWorkflowVersion: {
    method: 'PUT',
    path: '/v1/workflows/{name}/versions/{version}',
    repeatable: true,
    access: 'operate',
    summary: 'Register a version of a workflow',
    description:
      'The definition is checked as a whole, and every problem is listed with its path. A ' +
      'version that had a run never changes; the same definition again changes nothing.',
    params: VersionParams,
    query: PutWorkflowQuery,
    body: WorkflowDefinition,
    answers: { 200: WorkflowChange, 201: WorkflowChange },
    errors: [...CHANGE_ERRORS, 'invalid_definition', 'version_in_use', 'too_many_workflows'],
  },
  deleteWorkflowVersion: {
    method: 'DELETE',
    path: '/v1/workflows/{name}/versions/{version}',
    access: 'operate',
    summary: 'Delete a version of a workflow; its runs go on',
    params: VersionParams,
    answers: { 204: 'none' },
    errors: [...READ_ERRORS, 'workflow_not_found'],
  },
} as const satisfies Record<string, Route>;
