/**
 * Which package may import which. `tests/` and `bench/` may import anything. A folder that is named
 * here besides its package has a separate fence.
 */
import path from 'node:path';
import { findImports } from './imports.ts';
import { planted, type SourceFile, type TidyCheck } from './repository.ts';

interface Fence {
  /** Sluice packages, without their scope. */
  readonly packages: readonly string[];
  /** Sluice packages that may appear only in `import type`. */
  readonly typesOnly?: readonly string[];
  readonly allowsNode: boolean;
  /** Packages from the registry; `any` leaves the choice to package.json, which Biome enforces. */
  readonly external: readonly string[] | 'any';
}

const FENCES: Readonly<Record<string, Fence>> = {
  core: { packages: [], allowsNode: false, external: [] },
  protocol: { packages: [], typesOnly: ['core'], allowsNode: false, external: ['typebox'] },
  calendar: { packages: [], allowsNode: false, external: [] },
  log: { packages: [], typesOnly: ['core'], allowsNode: true, external: [] },
  // The only package that knows a database. A server loads it when its store is one.
  postgres: { packages: ['log'], allowsNode: true, external: ['pg'] },
  engine: { packages: ['core', 'log'], allowsNode: true, external: [] },
  server: {
    packages: ['engine', 'protocol', 'core', 'log', 'calendar', 'postgres'],
    allowsNode: true,
    external: 'any',
  },
  // It runs in browsers and has no dependencies to install.
  sdk: { packages: ['protocol'], allowsNode: false, external: [] },
  // The part of the SDK that runs only on Node.
  'sdk/src/node': { packages: ['protocol'], allowsNode: true, external: [] },
  // A server inside the process of a user's tests. It uses the core, so it decides like the server.
  'sdk/src/test-sluice': {
    packages: ['protocol', 'core', 'calendar'],
    allowsNode: false,
    external: [],
  },
  // `sluice dev` runs the server in its own process.
  cli: { packages: ['protocol', 'sdk', 'server', 'agent'], allowsNode: true, external: 'any' },
  agent: { packages: ['protocol', 'sdk'], allowsNode: true, external: 'any' },
  console: { packages: ['protocol', 'sdk'], allowsNode: true, external: 'any' },
  // It runs everything that runs without a socket.
  simulator: {
    packages: [
      'core',
      'log',
      'postgres',
      'engine',
      'protocol',
      'server',
      'sdk',
      'agent',
      'calendar',
    ],
    allowsNode: true,
    external: [],
  },
};

const TEST_PACKAGES = ['vitest', 'fast-check', 'croner'];

export const importFences: TidyCheck = {
  name: 'import fences',
  find: (files) => files.flatMap(findInFile),
  examples: [
    {
      title: 'core importing anything but itself',
      files: [
        planted('packages/core/src/a.ts', "import fs from 'node:fs';", "import 'typebox';"),
        planted('packages/core/src/b.ts', "import type { A } from '@sluice/log';"),
        planted('packages/core/src/c.ts', "import { test } from 'vitest';"),
        planted('packages/core/src/d.test.ts', "import { A } from '@sluice/log';"),
      ],
      problems: [
        "packages/core/src/a.ts:1: core may not import 'node:fs'",
        "packages/core/src/a.ts:2: core may not import 'typebox'",
        "packages/core/src/b.ts:1: core may not import '@sluice/log'",
        "packages/core/src/c.ts:1: core may not import 'vitest'",
        "packages/core/src/d.test.ts:1: core may not import '@sluice/log'",
      ],
    },
    {
      title: 'protocol and log importing more than types of core',
      files: [
        planted('packages/protocol/src/a.ts', "import { type A } from '@sluice/core';"),
        planted('packages/protocol/src/b.ts', "export * from '@sluice/log';", "import 'node:fs';"),
        planted('packages/log/src/a.ts', 'import {', '  B,', "} from '@sluice/core';"),
        planted('packages/log/src/b.ts', "import Type from 'typebox';"),
      ],
      problems: [
        "packages/protocol/src/a.ts:1: protocol may import '@sluice/core' only as a type",
        "packages/protocol/src/b.ts:1: protocol may not import '@sluice/log'",
        "packages/protocol/src/b.ts:2: protocol may not import 'node:fs'",
        "packages/log/src/a.ts:3: log may import '@sluice/core' only as a type",
        "packages/log/src/b.ts:1: log may not import 'typebox'",
      ],
    },
    {
      title: 'engine and server reaching up',
      files: [
        planted('packages/engine/src/a.ts', "import { a } from '@sluice/protocol';"),
        planted('packages/engine/src/b.ts', "await import('fastify');"),
        planted('packages/server/src/a.ts', "import type { A } from '@sluice/sdk';"),
      ],
      problems: [
        "packages/engine/src/a.ts:1: engine may not import '@sluice/protocol'",
        "packages/engine/src/b.ts:1: engine may not import 'fastify'",
        "packages/server/src/a.ts:1: server may not import '@sluice/sdk'",
      ],
    },
    {
      title: 'what users run reaching behind the protocol',
      files: [
        planted('packages/sdk/src/a.ts', "import { a } from '@sluice/server';"),
        planted(
          'packages/sdk/src/b.ts',
          "import 'node:timers';",
          "import { Type } from 'typebox';",
        ),
        planted('packages/sdk/src/node/a.ts', "import { a } from '@sluice/core';"),
        planted('packages/sdk/src/browser/a.ts', "import 'node:http';"),
        planted('packages/sdk/src/test-sluice/a.ts', "import { a } from '@sluice/engine';"),
        planted('packages/cli/src/a.ts', "import { a } from '@sluice/engine';"),
        planted('packages/agent/src/a.ts', "import type { A } from '@sluice/core';"),
        planted('packages/console/src/a.tsx', "import { a } from '@sluice/log';"),
      ],
      problems: [
        "packages/sdk/src/a.ts:1: sdk may not import '@sluice/server'",
        "packages/sdk/src/b.ts:1: sdk may not import 'node:timers'",
        "packages/sdk/src/b.ts:2: sdk may not import 'typebox'",
        "packages/sdk/src/node/a.ts:1: sdk may not import '@sluice/core'",
        "packages/sdk/src/browser/a.ts:1: sdk may not import 'node:http'",
        "packages/sdk/src/test-sluice/a.ts:1: sdk may not import '@sluice/engine'",
        "packages/cli/src/a.ts:1: cli may not import '@sluice/engine'",
        "packages/agent/src/a.ts:1: agent may not import '@sluice/core'",
        "packages/console/src/a.tsx:1: console may not import '@sluice/log'",
      ],
    },
    {
      title: 'paths around the fence, and a package without one',
      files: [
        planted('packages/server/src/a/b.ts', "import { a } from '../../../core/src/a.ts';"),
        planted('packages/server/src/c.ts', "import { a } from '@sluice/core/src/a.ts';"),
        planted('packages/novel/src/a.ts', "import './b.ts';"),
      ],
      problems: [
        "packages/server/src/a/b.ts:1: '../../../core/src/a.ts' leaves the package",
        "packages/server/src/c.ts:1: '@sluice/core/src/a.ts' reaches into another package",
        'packages/novel/src/a.ts:1: the package has no fence; add it to import-fences.ts',
      ],
    },
    {
      title: 'the reference model using what it is compared with',
      files: [
        planted('packages/core/src/testing/model/a.ts', "import { a } from '../../a.ts';"),
        planted('packages/core/src/testing/model/b.ts', "import type { B } from '../../b.ts';"),
        planted(
          'packages/core/src/testing/model/partition-model.ts',
          "import { c } from './model-c.ts';",
        ),
      ],
      problems: [
        "packages/core/src/testing/model/a.ts:1: the model may import '../../a.ts' only as a type",
      ],
    },
    {
      title: 'imports that are allowed',
      files: [
        planted('packages/core/src/a/b.ts', "import { c } from '../c.ts';"),
        planted('packages/core/src/a.test.ts', "import 'vitest';", "import 'node:fs';"),
        planted('packages/core/src/testing/a.ts', "import fc from 'fast-check';"),
        planted('packages/protocol/src/a.ts', "import type { importA } from '@sluice/core';"),
        planted('packages/protocol/src/b.ts', "import { Type } from 'typebox/type';"),
        planted('packages/log/src/conformance/conformance.ts', "import { test } from 'vitest';"),
        planted('packages/server/src/a.ts', "import { a } from '@sluice/log/conformance';"),
        planted('packages/sdk/src/a.ts', "import { LIMITS } from '@sluice/protocol/limits';"),
        planted(
          'packages/sdk/src/node/a.ts',
          "import 'node:http';",
          "import { a } from '../a.ts';",
        ),
        planted('packages/sdk/src/test-sluice/a.ts', "import { a } from '@sluice/core';"),
        planted('packages/cli/src/main.ts', "const { a } = await import('@sluice/server');"),
        planted('tests/e2e/a.ts', "import '@sluice/core/src/a.ts';", "import '../../bench/a.ts';"),
      ],
      problems: [],
    },
    {
      title: 'what only looks like an import',
      files: [
        planted('packages/core/src/a.ts', "// import fs from 'node:fs';", "Array.from('node:fs');"),
        planted('packages/core/src/b.ts', "f(`import 'node:fs';`);", 'f("from \'node:fs\'");'),
      ],
      problems: [],
    },
  ],
};

function findInFile(file: SourceFile): string[] {
  const owner = /^packages\/([^/]+)\/.*\.(?:tsx?|mjs)$/.exec(file.path)?.[1];
  if (owner === undefined) return [];
  const folder = /^packages\/([^/]+\/src\/[^/]+)\//.exec(file.path)?.[1] ?? owner;
  const fence = FENCES[folder] ?? FENCES[owner];
  if (fence === undefined) {
    return [`${file.path}:1: the package has no fence; add it to import-fences.ts`];
  }

  return findImports(file.text).flatMap(({ line, specifier, isTypeOnly }) => {
    const complaint = specifier.startsWith('.')
      ? complaintAboutRelative(file, owner, { specifier, isTypeOnly })
      : complaintAboutPackage({ file, owner, fence, specifier, isTypeOnly });
    return complaint === undefined ? [] : [`${file.path}:${line}: ${complaint}`];
  });
}

/** The reference model must not use the core, or it would repeat the core's mistakes. */
const TESTING = 'packages/core/src/testing/';
const MODEL = /^packages\/core\/src\/testing\/model\//;

function complaintAboutRelative(
  file: SourceFile,
  owner: string,
  { specifier, isTypeOnly }: { readonly specifier: string; readonly isTypeOnly: boolean },
): string | undefined {
  const target = path.posix.join(path.posix.dirname(file.path), specifier);
  if (MODEL.test(file.path) && !target.startsWith(TESTING) && !isTypeOnly) {
    return `the model may import '${specifier}' only as a type`;
  }
  return target.startsWith(`packages/${owner}/`) ? undefined : `'${specifier}' leaves the package`;
}

interface PackageImport {
  readonly file: SourceFile;
  readonly owner: string;
  readonly fence: Fence;
  readonly specifier: string;
  readonly isTypeOnly: boolean;
}

function complaintAboutPackage(given: PackageImport): string | undefined {
  const { file, owner, fence, specifier } = given;
  const refusal = `${owner} may not import '${specifier}'`;
  const isTest = /\.test\.tsx?$|\/src\/testing\/|\/conformance[\w-]*\.ts$/.test(file.path);

  if (specifier.startsWith('node:')) return fence.allowsNode || isTest ? undefined : refusal;
  const sluice = /^@sluice\/([^/]+)(\/src\/)?/.exec(specifier);
  if (sluice !== null) {
    if (sluice[2] !== undefined) return `'${specifier}' reaches into another package`;
    if (fence.packages.includes(sluice[1])) return undefined;
    if (!fence.typesOnly?.includes(sluice[1])) return refusal;
    return given.isTypeOnly ? undefined : `${owner} may import '${specifier}' only as a type`;
  }
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  if (isTest && TEST_PACKAGES.includes(name)) return undefined;
  return fence.external === 'any' || fence.external.includes(name) ? undefined : refusal;
}
