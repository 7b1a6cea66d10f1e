/** Messages between the server and the projection's thread. */
import type { Tags } from '@sluice/core';
import type { CommittedBatch } from '@sluice/engine';
import type { StoreAddress } from '@sluice/postgres';
import type { ShownSteps } from '../answers/shown-run.ts';
import type { ChangeQuery } from './change-ring.ts';
import type { KnownProgram } from './projected-programs.ts';
import type { ProjectorNotice, ProjectorOptions } from './projector-parts.ts';
import type { CountScope } from './rows/dead-letter-count.ts';
import type { ProjectionMark } from './rows/mark-file.ts';
import type { RowQuery, Times } from './rows/row-query.ts';

export interface ThreadData extends Omit<ProjectorOptions, 'notify'> {
  /** Rows are in this database; without it they are in the folder. */
  readonly store?: StoreAddress;
  /** It opens nothing until it is told to: another server still writes the rows. */
  readonly isParked?: boolean;
}

export interface FindQuestion {
  readonly type: 'find';
  readonly query: RowQuery;
  readonly times: Times;
  /** Maximum characters of the answer; the first task may exceed it. */
  readonly charactersMax: number;
}

export interface ReadQuestion {
  readonly type: 'read';
  readonly namespace: string;
  readonly ids: readonly string[];
  /** The task itself, a part of its record, or what is needed to run it again. */
  readonly form: 'task' | 'history' | 'callbacks' | 'attempts' | 'end' | 'readmission';
  /** Maximum characters of the answer, which stops there; the first task may exceed it. */
  readonly charactersMax: number;
}

/** The state of a task, as a number of the core, and when it ended. */
export interface TaskEnd {
  readonly state: number;
  readonly endedAt: number;
}

/** Runs as tasks; the namespace is that of the caller. */
interface RunQuery {
  readonly namespace: string;
  /** Numbers below this, newest first. */
  readonly before: number;
  readonly limit: number;
  readonly workflow?: string;
  readonly status?: string;
  readonly correlation?: string;
  readonly tags?: Tags;
}

export interface FindRunsQuestion extends Pick<FindQuestion, 'times' | 'charactersMax'> {
  readonly type: 'find_runs';
  readonly query: RunQuery;
}

/** One run with its steps, its history, or what is needed to restart it. */
export interface RunQuestion {
  readonly type: 'run' | 'runHistory' | 'runReadmission';
  readonly namespace: string;
  readonly id: string;
}

/** Steps of a run from a place on. */
export interface StepsQuestion extends Pick<RunQuestion, 'namespace' | 'id'> {
  readonly type: 'steps';
  readonly from: number;
  readonly limit: number;
}

/** Steps as JSON texts, and the place of the next one. */
export type StoredSteps = ShownSteps;

interface ChangesQuestion {
  readonly type: 'changes';
  readonly query: ChangeQuery;
}

/** Dead letters, grouped by error. */
export interface GroupsQuestion extends CountScope {
  readonly type: 'groups';
}

/** Which of these blobs are named by tasks. */
interface BlobsQuestion {
  readonly type: 'blobs';
  readonly blobs: readonly string[];
}

export type Question =
  | FindQuestion
  | ReadQuestion
  | FindRunsQuestion
  | RunQuestion
  | StepsQuestion
  | ChangesQuestion
  | GroupsQuestion
  | BlobsQuestion;

/** A page of tasks, as JSON texts. */
export interface Found {
  readonly items: readonly string[];
  /** Number of the last task; 0 when there is none. */
  readonly last: number;
  /** There may be more tasks after it. */
  readonly isMore: boolean;
}

/** Messages to the thread. */
export type Tell =
  | { readonly type: 'open' }
  | { readonly type: 'batches'; readonly batches: readonly CommittedBatch[] }
  | { readonly type: 'skip'; readonly position: number }
  /** Changes are followed from here on: some earlier ones are already in rows. */
  | {
      readonly type: 'begin';
      readonly position: number;
      /** Definitions that the thread does not know. */
      readonly programs: readonly KnownProgram[];
    }
  | { readonly type: 'question'; readonly id: number; readonly question: Question }
  | { readonly type: 'close' };

/** Messages from the thread. */
export type Say =
  | {
      readonly type: 'ready';
      readonly saved: ProjectionMark;
      readonly bytes: number;
      /** Places of the definitions that it knows. */
      readonly programs: readonly number[];
    }
  | { readonly type: 'taken'; readonly saved: ProjectionMark; readonly seen: ProjectionMark }
  | { readonly type: 'saved'; readonly saved: ProjectionMark; readonly bytes: number }
  | ({ readonly type: 'answer'; readonly id: number } & (
      | { readonly value: unknown }
      | { readonly why: string }
    ))
  | { readonly type: 'notice'; readonly notice: ProjectorNotice }
  | { readonly type: 'failing'; readonly why: string }
  | { readonly type: 'recovered' };
