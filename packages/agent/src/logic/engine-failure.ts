import type { CommandFailure } from './command-end.ts';

/** An answer of the engine that is not what was asked for; status 0 when there was no answer. */
export interface EngineProblem {
  readonly status: number;
  readonly message: string;
}

type Stage = 'pull' | 'create' | 'start';

interface Rule {
  readonly stages: readonly Stage[];
  readonly matches: RegExp;
  readonly code: string;
  readonly isRetryable: boolean;
}

const ALL: readonly Stage[] = ['pull', 'create', 'start'];

/** The first that matches counts. Engines have no codes, only messages. */
const RULES: readonly Rule[] = [
  {
    stages: ALL,
    matches: /no space left|disk quota/i,
    code: 'engine_disk_full',
    isRetryable: true,
  },
  {
    stages: ['pull'],
    matches: /unauthorized|denied|authentication required|no basic auth/i,
    code: 'registry_auth_failed',
    isRetryable: false,
  },
  {
    stages: ['pull', 'create'],
    matches: /manifest (?:unknown|.*not found)|no such image|repository .*not found/i,
    code: 'image_not_found',
    isRetryable: false,
  },
  {
    stages: ['create', 'start'],
    matches: /network .*not found|could not select device driver/i,
    code: 'container_not_run',
    isRetryable: false,
  },
  {
    stages: ['start'],
    matches: /executable file not found|no such file or directory/i,
    code: 'command_not_found',
    isRetryable: false,
  },
  {
    stages: ['start'],
    matches: /permission denied|exec format error/i,
    code: 'command_not_run',
    isRetryable: false,
  },
];

/** By then the agent takes no containers any more, so no attempts are spent on it. */
const ENGINE_NOTICED_MS = 5000;

const OTHERS: Readonly<Record<Stage, string>> = {
  pull: 'image_pull_failed',
  create: 'container_not_run',
  start: 'container_not_run',
};

/** What a problem of the engine means for the task. */
export function engineFailure(stage: Stage, { status, message }: EngineProblem): CommandFailure {
  if (status === 0) {
    const why = `the container engine does not answer: ${message}`;
    const retryAfterMs = ENGINE_NOTICED_MS;
    return { code: 'engine_unavailable', message: why, isRetryable: true, retryAfterMs };
  }
  const rule = RULES.find(({ stages, matches }) => stages.includes(stage) && matches.test(message));
  if (rule !== undefined) return { code: rule.code, message, isRetryable: rule.isRetryable };
  // The engine says 4xx when the request is at fault, which another attempt would repeat.
  const isRetryable = stage === 'pull' || status >= 500;
  return { code: OTHERS[stage], message, isRetryable };
}
