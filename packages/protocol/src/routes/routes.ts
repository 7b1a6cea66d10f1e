import { ACCESS_ROUTES } from './access-routes.ts';
import { BLOB_ROUTES } from './blob-routes.ts';
import { CALLBACK_ROUTES } from './callback-routes.ts';
import { OPERATION_ROUTES } from './operation-routes.ts';
import { RUN_ROUTES } from './run-routes.ts';
import { SCHEDULE_ROUTES } from './schedule-routes.ts';
import { TASK_ROUTES } from './task-routes.ts';
import { WORKER_ROUTES } from './worker-routes.ts';
import { WORKFLOW_ROUTES } from './workflow-routes.ts';

/** Every call of the API. */
export const ROUTES = {
  ...TASK_ROUTES,
  ...WORKER_ROUTES,
  ...BLOB_ROUTES,
  ...OPERATION_ROUTES,
  ...CALLBACK_ROUTES,
  ...WORKFLOW_ROUTES,
  ...RUN_ROUTES,
  ...SCHEDULE_ROUTES,
  ...ACCESS_ROUTES,
} as const;

export type RouteName = keyof typeof ROUTES;
