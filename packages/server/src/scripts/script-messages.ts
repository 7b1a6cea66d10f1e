import type { BlobAnswer, EvaluationRequest } from '@sluice/core';
import type { ScriptResult } from './script-result.ts';

export type ScriptLanguage = EvaluationRequest['language'];

/** A script to evaluate, or only to check when there is no input; or what is asked of blobs. */
export interface ScriptQuestion {
  readonly id: number;
  readonly language: ScriptLanguage;
  readonly source: string;
  /** JSON text of `$`. */
  readonly input?: string;
}

export interface ScriptAnswer {
  readonly id: number;
  readonly result?: ScriptResult;
  /** What was found in blobs. */
  readonly values?: readonly BlobAnswer[];
  /** Why a checked script is none. */
  readonly problem?: string | undefined;
}
