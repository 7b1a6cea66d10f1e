/**
 * Rooms: the folders of a package, in the order in which they build on each other. A file imports
 * only from its own room and from rooms above it, so that a reader knows what a room can depend on.
 * Files directly in `src` are the package's face and come last.
 */
import path from 'node:path';
import { findImports } from './imports.ts';
import { planted, type SourceFile, type TidyCheck } from './repository.ts';

/** Each room may import the ones before it. Tests and `testing/` may import any room. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: [
    'base',
    'structures',
    'snapshot',
    'task',
    'schedule',
    'schema',
    'expressions',
    'workflow',
    'events',
    'state/access',
    'state/runs',
    'state/schedules',
    'state',
    'apply',
    'workers',
    'decision/runs',
    'decision',
    'matching',
    'commands/access',
    'commands/callbacks',
    'commands/backup',
    'commands/queues',
    'commands/tasks',
    'commands/runs',
    'commands/steps',
    'commands/schedules',
    'commands/dead-letters',
    'commands/sessions',
    'commands/attempts',
    'commands/time',
    'commands',
    '',
  ],
  console: [
    'base',
    'ui',
    'editor',
    'graph',
    'pages/login',
    'pages/tasks',
    'pages/runs',
    'pages/workflows',
    'pages/schedules',
    'pages/queues',
    'pages/workers',
    'pages/settings',
    'pages/overview',
    'shell',
    '',
  ],
  protocol: ['base', 'schemas', 'rules', 'routes', ''],
  postgres: [
    'session',
    'schema',
    'hold',
    'log',
    'snapshots',
    'blobs',
    'lines',
    'notes',
    'admin',
    '',
  ],
  log: ['contract', 'disk', 'segments', 'snapshots', 'memory', 'file', ''],
  server: [
    'base',
    'clock',
    'config',
    'limits',
    'dedupe',
    'http',
    'forwarding',
    'console',
    'answers',
    'access',
    'blobs',
    'projection/runs',
    'projection/records',
    'projection/rows',
    'projection/unsaved',
    'projection/postgres',
    'projection',
    'tasks',
    'scripts',
    'workflows',
    'runs',
    'schedules',
    'queues',
    'workers',
    'callbacks',
    'logs',
    'events',
    'metrics',
    'stats',
    'observation',
    'backup',
    'cluster',
    'log-dump',
    'gateway',
    'http-steps',
    'membership',
    'moving',
    'assembly',
    'host',
    'servers',
    '',
  ],
  sdk: [
    'base',
    'task',
    'workflow',
    'calls',
    'worker',
    'operators',
    'client',
    'node',
    'browser',
    'test-sluice/server',
    'test-sluice/runs',
    'test-sluice/schedules',
    'test-sluice',
    '',
  ],
  agent: ['logic', 'host', 'engine', 'attempts', 'commands', 'containers', ''],
  cli: [
    'base',
    'screen',
    'api',
    'backup',
    'commands',
    'admin',
    'agent',
    'schedules',
    'workflows',
    '',
  ],
  simulator: [
    'base',
    'kernel',
    'disk',
    'network',
    'plan',
    'receivers',
    'server',
    'clients',
    'checkers/story',
    'checkers/rules',
    'checkers/linearizability',
    'checkers/projection',
    'checkers/runs',
    'schedules',
    'checkers',
    'workers',
    'agents',
    'cluster/wires',
    'cluster/plan',
    'cluster/database',
    'cluster/machines',
    'cluster/people',
    'cluster',
    'seeds',
    'mutants',
    'mutants/hunt',
    '',
  ],
};

/** The only files that a package may have at its top, for packages whose face is bare. */
const FACES: Readonly<Record<string, readonly string[]>> = {
  server: ['index.ts', 'cluster.ts'],
};

/** A room with more files than this has more than one subject. Tests do not count. */
const FILES_PER_ROOM_MAX = 20;

export const rooms: TidyCheck = {
  name: 'rooms',
  find: (files) => {
    const roomed = files.filter((file) => ROOMS[packageOf(file)] !== undefined && isSource(file));
    return [...roomed.flatMap(complaintsAbout), ...crowdedRooms(roomed)];
  },
  examples: [
    {
      title: 'a room that imports a later one',
      files: [
        planted('packages/core/src/state/a.ts', "import { b } from '../commands/tasks/b.ts';"),
        planted('packages/core/src/base/a.ts', "import type { B } from '../partition.ts';"),
        planted('packages/core/src/commands/time/a.ts', "import { b } from '../commands.ts';"),
        planted('packages/protocol/src/base/a.ts', "import { b } from '../routes/b.ts';"),
        planted('packages/log/src/disk/a.ts', "import { b } from '../file/b.ts';"),
        planted('packages/server/src/http/a.ts', "import type { B } from '../tasks/b.ts';"),
        planted('packages/sdk/src/task/a.ts', "import { b } from '../client/b.ts';"),
        planted('packages/postgres/src/hold/a.ts', "import { b } from '../log/b.ts';"),
        planted('packages/console/src/ui/a.tsx', "import { b } from '../shell/b.tsx';"),
        planted('packages/agent/src/logic/a.ts', "import { b } from '../engine/b.ts';"),
        planted('packages/cli/src/api/a.ts', "import { b } from '../commands/b.ts';"),
        planted('packages/simulator/src/kernel/a.ts', "import { b } from '../network/b.ts';"),
      ],
      problems: [
        "packages/core/src/state/a.ts:1: room 'state' may not import 'commands/tasks'",
        "packages/core/src/base/a.ts:1: room 'base' may not import 'src'",
        "packages/core/src/commands/time/a.ts:1: room 'commands/time' may not import 'commands'",
        "packages/protocol/src/base/a.ts:1: room 'base' may not import 'routes'",
        "packages/log/src/disk/a.ts:1: room 'disk' may not import 'file'",
        "packages/server/src/http/a.ts:1: room 'http' may not import 'tasks'",
        "packages/sdk/src/task/a.ts:1: room 'task' may not import 'client'",
        "packages/postgres/src/hold/a.ts:1: room 'hold' may not import 'log'",
        "packages/console/src/ui/a.tsx:1: room 'ui' may not import 'shell'",
        "packages/agent/src/logic/a.ts:1: room 'logic' may not import 'engine'",
        "packages/cli/src/api/a.ts:1: room 'api' may not import 'commands'",
        "packages/simulator/src/kernel/a.ts:1: room 'kernel' may not import 'network'",
      ],
    },
    {
      title: 'a folder that is no room',
      files: [planted('packages/core/src/new/a.ts', "import { b } from '../base/b.ts';")],
      problems: ["packages/core/src/new/a.ts:1: 'new' is no room; add it to tests/tidy/rooms.ts"],
    },
    {
      title: 'a file at the top of a package whose face is bare',
      files: [
        planted('packages/server/src/index.ts', "export { b } from './http/b.ts';"),
        planted('packages/server/src/a.ts', "import { b } from './http/b.ts';"),
      ],
      problems: [
        "packages/server/src/a.ts:1: only index.ts, cluster.ts stand at the top of 'server'",
      ],
    },
    {
      title: 'a room with too many files',
      files: Array.from({ length: FILES_PER_ROOM_MAX + 1 }, (_, number) =>
        planted(`packages/core/src/base/a${number}.ts`, ''),
      ),
      problems: [
        'packages/core/src/base: the room has 21 files, at most 20 fit; split it by subject',
      ],
    },
    {
      title: 'imports that are allowed',
      files: [
        planted(
          'packages/core/src/state/a.ts',
          "import { b } from '../base/b.ts';",
          "import './c.ts';",
        ),
        planted('packages/core/src/partition.ts', "import { b } from './commands/decide.ts';"),
        planted('packages/core/src/base/a.test.ts', "import { b } from '../partition.ts';"),
        planted('packages/core/src/testing/world/a.ts', "import { b } from '../../partition.ts';"),
        planted('packages/cli/src/base/a.ts', "import b from '../../package.json';"),
        planted('packages/simulator/src/disk/testing/a.ts', "import { b } from '../../main.ts';"),
        planted('packages/engine/src/testing/a.ts', "import { b } from '../b.ts';"),
      ],
      problems: [],
    },
  ],
};

function packageOf({ path: file }: SourceFile): string {
  return /^packages\/([^/]+)\/src\//.exec(file)?.[1] ?? '';
}

function isSource({ path: file }: SourceFile): boolean {
  return /\.tsx?$/.test(file) && !/\.test\.tsx?$|\/(?:testing|src\/conformance)\//.test(file);
}

function roomOf(file: string): string {
  return path.posix.dirname(file).replace(/^packages\/[^/]+\/src\/?/, '');
}

function complaintsAbout(file: SourceFile): string[] {
  const owner = packageOf(file);
  const order = ROOMS[owner];
  const room = roomOf(file.path);
  const rank = order.indexOf(room);
  if (rank < 0) return [`${file.path}:1: '${room}' is no room; add it to tests/tidy/rooms.ts`];
  const face = FACES[owner];
  if (room === '' && face !== undefined && !face.includes(path.posix.basename(file.path))) {
    return [`${file.path}:1: only ${face.join(', ')} stand at the top of '${owner}'`];
  }

  return findImports(file.text).flatMap(({ line, specifier }) => {
    if (!specifier.startsWith('.') || specifier.endsWith('/package.json')) return [];
    const target = roomOf(path.posix.join(path.posix.dirname(file.path), specifier));
    if (target === room || order.slice(0, rank).includes(target)) return [];
    return [`${file.path}:${line}: room '${room}' may not import '${target || 'src'}'`];
  });
}

function crowdedRooms(files: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path: file } of files) {
    const folder = path.posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) => {
    if (count <= FILES_PER_ROOM_MAX) return [];
    const bound = `at most ${FILES_PER_ROOM_MAX} fit`;
    return [`${folder}: the room has ${count} files, ${bound}; split it by subject`];
  });
}
