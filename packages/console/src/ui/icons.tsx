/** Small drawings on a grid of 16. They are decoration: the text beside them says the same. */
const PATHS = {
  overview: 'M2 9h4V2H2zM10 14h4V7h-4zM2 14h4v-2H2zM10 4h4V2h-4z',
  tasks: 'M2 4h2M2 8h2M2 12h2M7 4h7M7 8h7M7 12h7',
  runs: 'M4 3v4a2 2 0 0 0 2 2h4a2 2 0 0 1 2 2v2M4 3v10',
  workflows: 'M3 2h4v4H3zM9 10h4v4H9zM5 6v3a2 2 0 0 0 2 2h2',
  schedules: 'M8 4v4l3 2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  queues: 'M2 5h12M2 8h12M2 11h8',
  deadLetters: 'M2 4h12v8H2zM2 5l6 4 6-4',
  workers: 'M3 3h10v4H3zM3 9h10v4H3zM6 5h.01M6 11h.01',
  settings:
    'M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 2v2M8 12v2M2 8h2M12 8h2' +
    'M4 4l1 1M11 11l1 1M12 4l-1 1M5 11l-1 1',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3',
  menu: 'M2 4h12M2 8h12M2 12h12',
  copy: 'M5 5h8v8H5zM3 10V3h7',
  close: 'M4 4l8 8M12 4l-8 8',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg
      aria-hidden="true"
      width={20}
      height={20}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2.4}
      strokeLinecap="round"
    >
      <path d="M4 4v16M20 4v16M4 9c3 0 3 2.4 5.300 2.400S12 9 14.600 9s2.400 2.400 5.400 2.400" />
      <path d="M4 15c3 0 3 2.400 5.300 2.400S12 15 14.600 15s2.400 2.400 5.400 2.400" />
    </svg>
  );
}
