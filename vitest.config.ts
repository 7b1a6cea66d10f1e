import { defineConfig } from 'vitest/config';

/**
 * Tests that wear out a disk byte by byte, or need one of their own: seconds each, so not in
 * `check`.
 */
const DISK_TESTS = [
  'packages/log/src/file/file-log-process.test.ts',
  'packages/log/src/segments/flipped-bytes.test.ts',
  'packages/log/src/file/full-disk.test.ts',
  'packages/log/src/segments/segment-recycling.test.ts',
  'packages/log/src/segments/torn-tail.test.ts',
  'packages/log/src/disk/write-error-process.test.ts',
];

/** Tests that let hundreds of worlds live, look for planted bugs, and compile them. */
const SIMULATOR_TESTS = [
  'packages/simulator/src/simulator-process.test.ts',
  'packages/simulator/src/mutants/hunt/mutants-process.test.ts',
];

/** Tests against a real PostgreSQL. One server serves all files, each test in a schema. */
const POSTGRES_TESTS = ['packages/postgres/src/**/*.test.ts', 'tests/postgres/**/*.test.ts'];

/**
 * Black-box tests of a single server that a cluster has to pass unchanged. Not here are tests of
 * the command line and the SDK alone, and
 * - blobs, blob-requests, sdk-blobs, backup, projection and disks: they look into the data folder;
 * - callbacks, clock-jump: they move the server's clock, and a cluster has that of its database;
 * - metrics, stats, memory, start, stopping: they are about one process;
 * - access, keys, tls: a server that others reach needs keys, which these tests make in the folder.
 */
const CLUSTER_TESTS = [
  ...['task-path', 'task-operations', 'task-lists', 'task-logs', 'request-keys', 'blob-values'],
  ...['workflows', 'workflow-waits', 'dynamic-forks', 'revived-runs', 'schedules', 'events'],
  ...['agent', 'console-api', 'console-pages'],
].map((name) => `tests/e2e/${name}.test.ts`);

/** Tests that kill servers. */
const CHAOS_TESTS = ['tests/chaos/**/*.test.ts'];

/** Tests that fill memory or count what processes use: they run alone, one after the other. */
const LONE_TESTS = ['tests/{counters,memory}/**/*.test.ts'];

/** Much longer than any test takes on a busy machine: a test that waits for ever must end. */
const TEST_MS_MAX = 240_000;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'examples/**/*.test.ts', 'tests/*.test.ts'],
          exclude: [...DISK_TESTS, ...SIMULATOR_TESTS, ...POSTGRES_TESTS],
          setupFiles: ['tests/support/random-sequences.ts'],
          // Vitest leaves one core to itself, which is half of a small machine.
          maxWorkers: '100%',
          testTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          // Each file has servers of its own, and much of their time is waiting.
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          maxWorkers: 4,
          testTimeout: TEST_MS_MAX,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'postgres',
          include: POSTGRES_TESTS,
          globalSetup: 'packages/postgres/src/testing/shared-server.ts',
          maxWorkers: 3,
          testTimeout: TEST_MS_MAX,
          hookTimeout: 60_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          // Tests of a single server, against a server of two that does not own the partition.
          name: 'cluster',
          include: CLUSTER_TESTS,
          env: { SLUICE_TEST_CLUSTER: '1', SLUICE_FOLLOW_OWNER: 'false' },
          globalSetup: 'packages/postgres/src/testing/shared-server.ts',
          maxWorkers: 4,
          testTimeout: TEST_MS_MAX,
          hookTimeout: 60_000,
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: {
          name: 'process',
          include: [...CHAOS_TESTS, ...DISK_TESTS, ...SIMULATOR_TESTS],
          maxWorkers: 2,
          testTimeout: TEST_MS_MAX,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'alone',
          include: LONE_TESTS,
          fileParallelism: false,
          testTimeout: TEST_MS_MAX,
          hookTimeout: 60_000,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
