/** The addresses of the pages. What a page filters by is in the address, so that it can be sent. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { OverviewPage } from '../pages/overview/overview-page.tsx';
import { Layout, NoPage } from './layout.tsx';

const root = createRootRoute({ component: Layout, notFoundComponent: NoPage });

/** Fields of the address, as texts. Unknown ones are dropped. */
function texts<const N extends readonly string[]>(...names: N) {
  return (search: Record<string, unknown>): { [K in N[number]]?: string } => {
    const found = names.filter((name) => search[name] !== undefined && search[name] !== '');
    return Object.fromEntries(found.map((name) => [name, String(search[name])])) as never;
  };
}

const routes = [
  createRoute({ getParentRoute: () => root, path: '/', component: OverviewPage }),
  createRoute({
    getParentRoute: () => root,
    path: '/tasks',
    validateSearch: texts('type', 'state', 'tag', 'q', 'since', 'until', 'parent', 'columns'),
    component: lazyRouteComponent(() => import('../pages/tasks/tasks-page.tsx'), 'TasksPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tasks/$id',
    component: lazyRouteComponent(() => import('../pages/tasks/task-page.tsx'), 'TaskPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    validateSearch: texts('workflow', 'status', 'tag', 'correlationId', 'since'),
    component: lazyRouteComponent(() => import('../pages/runs/runs-page.tsx'), 'RunsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$id',
    validateSearch: texts('view', 'step'),
    component: lazyRouteComponent(() => import('../pages/runs/run-page.tsx'), 'RunPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/workflows',
    component: lazyRouteComponent(
      () => import('../pages/workflows/workflows-page.tsx'),
      'WorkflowsPage',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/workflows/$name',
    validateSearch: texts('version', 'against', 'view'),
    component: lazyRouteComponent(
      () => import('../pages/workflows/workflow-page.tsx'),
      'WorkflowPage',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/schedules',
    validateSearch: texts('q', 'state'),
    component: lazyRouteComponent(
      () => import('../pages/schedules/schedules-page.tsx'),
      'SchedulesPage',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/schedules/$id',
    component: lazyRouteComponent(
      () => import('../pages/schedules/schedule-page.tsx'),
      'SchedulePage',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/queues',
    component: lazyRouteComponent(() => import('../pages/queues/queues-page.tsx'), 'QueuesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/dead-letters',
    validateSearch: texts('type'),
    component: lazyRouteComponent(
      () => import('../pages/queues/dead-letters-page.tsx'),
      'DeadLettersPage',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/workers',
    component: lazyRouteComponent(() => import('../pages/workers/workers-page.tsx'), 'WorkersPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings',
    validateSearch: texts('view', 'action', 'actor'),
    component: lazyRouteComponent(
      () => import('../pages/settings/settings-page.tsx'),
      'SettingsPage',
    ),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([...routes]),
  // Plain texts in the address, as people write them.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const fields = Object.entries(search).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    const query = new URLSearchParams(fields.map(([name, value]) => [name, String(value)]));
    return query.size === 0 ? '' : `?${query}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
