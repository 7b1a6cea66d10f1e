/** What the form of a schedule says, as a request and back. */
import type { ScheduleRequest } from '@sluice/protocol';
import { parsedJson } from '../../ui/json-field.tsx';
import type { Schedule } from './spec-words.ts';

/** Every kind of times that the API knows. */
export const KINDS = {
  cron: 'at times of a cron pattern',
  every: 'in an interval',
  delay: 'a while after the last one ended',
  once: 'once',
  permanent: 'always: one that ends is started again',
} as const;

export type Kind = keyof typeof KINDS;

export interface Draft {
  readonly id: string;
  readonly kind: Kind;
  readonly cron: string;
  readonly timeZone: string;
  readonly everySeconds: string;
  /** Local time as a field of the browser has it; empty for none. */
  readonly startAt: string;
  readonly at: string;
  readonly replicas: string;
  readonly makes: 'task' | 'run' | 'exec';
  readonly name: string;
  readonly exec: string;
  readonly input: string;
  readonly overlap: string;
  readonly misfire: string;
}

export const NEW_DRAFT: Draft = {
  id: '',
  kind: 'cron',
  cron: '0 3 * * *',
  timeZone: 'UTC',
  everySeconds: '60',
  startAt: '',
  at: '',
  replicas: '1',
  makes: 'task',
  name: '',
  exec: '{\n  "command": ["date"]\n}',
  input: '{}',
  overlap: 'allow',
  misfire: 'once',
};

export function draftOf(schedule: Schedule): Draft {
  const { task, run } = schedule;
  const exec = (task as { readonly exec?: unknown } | undefined)?.exec;
  return {
    ...NEW_DRAFT,
    id: schedule.id,
    ...timesOf(schedule.spec),
    makes: run !== undefined ? 'run' : exec === undefined ? 'task' : 'exec',
    name: task?.type ?? run?.workflow ?? '',
    ...(exec === undefined ? {} : { exec: JSON.stringify(exec, undefined, 2) }),
    input: JSON.stringify(task?.input ?? run?.input ?? {}, undefined, 2),
    overlap: schedule.overlap ?? 'allow',
    misfire: schedule.misfire ?? 'once',
  };
}

function timesOf(spec: Schedule['spec']): Partial<Draft> {
  if ('cron' in spec) return { cron: spec.cron, timeZone: spec.timeZone ?? 'UTC' };
  if ('at' in spec) return { kind: 'once', at: localText(spec.at) };
  if ('permanent' in spec) return { kind: 'permanent', replicas: String(spec.replicas ?? 1) };
  return {
    kind: spec.mode === 'fixedDelay' ? 'delay' : 'every',
    everySeconds: String(spec.everyMs / 1000),
    startAt: spec.startAt === undefined ? '' : localText(spec.startAt),
  };
}

/** Undefined while something is missing. Fields that the form does not have stay as they are. */
export function requestOf(draft: Draft, old: Schedule | undefined): ScheduleRequest | undefined {
  const spec = specOf(draft, old);
  const target = targetOf(draft, old);
  if (spec === undefined || target === undefined) return undefined;
  const paused = old?.paused ?? false;
  const { window, misfireMax, jitterMs, tags } = old ?? {};
  // Choices that have no effect are refused.
  if ('permanent' in spec) return { ...stated({ tags }), spec, ...target, paused };
  const isAll = draft.misfire === 'all';
  return {
    ...stated({ window, jitterMs, tags, misfireMax: isAll ? misfireMax : undefined }),
    spec,
    ...target,
    overlap: draft.overlap as 'allow',
    misfire: draft.misfire as 'once',
    paused,
  };
}

function specOf(draft: Draft, old: Schedule | undefined): ScheduleRequest['spec'] | undefined {
  switch (draft.kind) {
    case 'cron':
      return draft.cron === '' ? undefined : { cron: draft.cron, timeZone: draft.timeZone };
    case 'once': {
      const at = timeOf(draft.at);
      return at === undefined ? undefined : { at };
    }
    case 'permanent': {
      const replicas = Number(draft.replicas);
      return Number.isInteger(replicas) && replicas > 0 ? { permanent: true, replicas } : undefined;
    }
    default: {
      const everyMs = Math.round(Number(draft.everySeconds) * 1000);
      if (!(everyMs > 0)) return undefined;
      const isFast = old !== undefined && 'everyMs' in old.spec && old.spec.allowFast === true;
      const mode = draft.kind === 'delay' ? 'fixedDelay' : 'fixedRate';
      const startAt = timeOf(draft.startAt);
      return { everyMs, mode, ...stated({ startAt, allowFast: isFast || undefined }) };
    }
  }
}

type Target = Pick<ScheduleRequest, 'task' | 'run'>;

function targetOf(draft: Draft, old: Schedule | undefined): Target | undefined {
  if (draft.makes === 'exec') {
    const exec = parsedJson(draft.exec);
    if ('problem' in exec) return undefined;
    const { type: _, input: __, ...kept } = old?.task ?? ({} as NonNullable<Schedule['task']>);
    return { task: { ...kept, exec: exec.value } as unknown as NonNullable<Target['task']> };
  }
  const input = parsedJson(draft.input);
  if (draft.name === '' || 'problem' in input) return undefined;
  if (draft.makes === 'run') {
    return { run: { ...old?.run, workflow: draft.name, input: input.value } };
  }
  const { exec: _, ...kept } = { exec: undefined, ...old?.task };
  return { task: { ...kept, type: draft.name, input: input.value } };
}

function stated<T extends object>(fields: T): T {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}

/** The time of a field, which is local, as the API takes it. */
function timeOf(text: string): string | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

function localText(time: string | number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
