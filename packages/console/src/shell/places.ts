import type { IconName } from '../ui/icons.tsx';

interface Place {
  readonly to:
    | '/'
    | '/tasks'
    | '/runs'
    | '/workflows'
    | '/schedules'
    | '/queues'
    | '/dead-letters'
    | '/workers'
    | '/settings';
  readonly name: string;
  readonly icon: IconName;
}

/** The pages of the menu. */
export const PLACES: readonly Place[] = [
  { to: '/', name: 'Overview', icon: 'overview' },
  { to: '/tasks', name: 'Tasks', icon: 'tasks' },
  { to: '/runs', name: 'Runs', icon: 'runs' },
  { to: '/workflows', name: 'Workflows', icon: 'workflows' },
  { to: '/schedules', name: 'Schedules', icon: 'schedules' },
  { to: '/queues', name: 'Queues', icon: 'queues' },
  { to: '/dead-letters', name: 'Dead letters', icon: 'deadLetters' },
  { to: '/workers', name: 'Workers', icon: 'workers' },
  { to: '/settings', name: 'Settings', icon: 'settings' },
];
