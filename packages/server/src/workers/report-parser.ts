import type { Report, ReportAttempts, SessionId } from '@sluice/core';
import {
  Capacity,
  checkResources,
  type ErrorDetail,
  LIMITS,
  MeasuredUse,
  OfferedTypes,
  REPORT_SCHEMAS,
  type ReportRequest,
  timeProblems,
} from '@sluice/protocol';
import { CORE_RULES } from '../base/core-rules.ts';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { Checker, invalid } from '../base/validation.ts';
import { repeatedTypes } from './session-parser.ts';

const NOT_VALID = 'the reports are not valid';

/** Approximate maximum number of problems in an answer. */
const PROBLEMS_MAX = 50;

/** Checks a body and turns it into a command. The command is valid until the next call. */
export class ReportParser {
  private readonly checkers = {
    started: new Checker(REPORT_SCHEMAS.started),
    heartbeat: new Checker(REPORT_SCHEMAS.heartbeat),
    progress: new Checker(REPORT_SCHEMAS.progress),
    log: new Checker(REPORT_SCHEMAS.log),
    succeeded: new Checker(REPORT_SCHEMAS.succeeded),
    failed: new Checker(REPORT_SCHEMAS.failed),
    cancelled: new Checker(REPORT_SCHEMAS.cancelled),
    later: new Checker(REPORT_SCHEMAS.later),
    refused: new Checker(REPORT_SCHEMAS.refused),
  };
  private readonly capacity = new Checker(Capacity);
  private readonly types = new Checker(OfferedTypes);
  private readonly measured = new Checker(MeasuredUse);
  private readonly scratch = new PayloadScratch();
  private readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
  }

  parse(namespace: string, session: SessionId, body: unknown): Omit<ReportAttempts, 'now'> {
    const parts = partsOf(body);
    const reports = this.checkAll(reportList(parts));
    const capacity = this.checkCapacity(parts.capacity);
    const types = this.checkTypes(parts.types);
    this.checkMeasured(parts.measured);
    this.scratch.begin((index) => {
      return `/reports/${index}/${reports[index].kind === 'failed' ? 'error' : 'output'}`;
    });
    for (const report of reports) {
      const { outputBlob } = report as { readonly outputBlob?: string };
      if (outputBlob === undefined) this.scratch.add(payloadOf(report));
      else this.scratch.addBlob(outputBlob);
    }
    return {
      type: 'report_attempts',
      namespace,
      session,
      reports: reports.map(toReport),
      ...(capacity === undefined ? {} : { capacity }),
      ...(types === undefined ? {} : { types }),
      seed: Math.floor(this.random() * 2 ** 32),
      payloads: this.scratch.bytes,
      payloadEnds: this.scratch.ends,
    };
  }

  private checkCapacity(value: unknown): ReportAttempts['capacity'] {
    if (value === undefined) return undefined;
    const problems: ErrorDetail[] = [];
    if (!this.capacity.accepts(value)) problems.push(...this.capacity.problems(value, '/capacity'));
    else checkResources(value, '/capacity', problems, CORE_RULES);
    if (problems.length > 0) throw invalid(NOT_VALID, problems);
    return { slots: LIMITS.slotsDefault, ...(value as Capacity) };
  }

  private checkTypes(value: unknown): ReportAttempts['types'] {
    if (value === undefined) return undefined;
    const problems = this.types.accepts(value)
      ? repeatedTypes(value)
      : this.types.problems(value, '/types');
    if (problems.length > 0) throw invalid(NOT_VALID, problems);
    return value as ReportAttempts['types'];
  }

  private checkMeasured(value: unknown): void {
    if (value === undefined || this.measured.accepts(value)) return;
    throw invalid(NOT_VALID, this.measured.problems(value, '/measured'));
  }

  private checkerOf(kind: unknown) {
    if (typeof kind !== 'string' || !Object.hasOwn(this.checkers, kind)) return undefined;
    return this.checkers[kind as keyof typeof this.checkers];
  }

  private checkAll(items: readonly unknown[]): ReportRequest[] {
    const problems: ErrorDetail[] = [];
    items.forEach((item, index) => {
      if (problems.length >= PROBLEMS_MAX) return;
      const checker = this.checkerOf((item as { kind?: unknown } | null)?.kind);
      if (checker === undefined) problems.push(unknownKind(index));
      else if (!checker.accepts(item))
        problems.push(...checker.problems(item, `/reports/${index}`));
      else problems.push(...reportProblems(item as ReportRequest, index));
    });
    if (problems.length > 0) throw invalid(NOT_VALID, problems);
    return items as ReportRequest[];
  }
}

interface Parts {
  readonly reports?: unknown;
  readonly capacity?: unknown;
  readonly types?: unknown;
  readonly measured?: unknown;
}

/** What a worker measured; the body was checked. */
export function measuredIn(body: unknown): MeasuredUse | undefined {
  return (body as { readonly measured?: MeasuredUse } | undefined)?.measured;
}

const PARTS: ReadonlySet<string> = new Set(['reports', 'capacity', 'types', 'measured']);

/** An empty body, `{}` and an empty list are heartbeats. */
function partsOf(body: unknown): Parts {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid(NOT_VALID, [{ path: '', problem: 'must be an object with "reports"' }]);
  }
  const unknown = Object.keys(body).filter((name) => !PARTS.has(name));
  if (unknown.length > 0) {
    const details = unknown.map((name) => ({ path: `/${name}`, problem: 'is not a known field' }));
    throw invalid(NOT_VALID, details);
  }
  return body;
}

function reportList({ reports = [] }: Parts): readonly unknown[] {
  if (!Array.isArray(reports) || reports.length > LIMITS.reportsMax) {
    const problem = `must be an array of at most ${LIMITS.reportsMax}`;
    throw invalid(NOT_VALID, [{ path: '/reports', problem }]);
  }
  return reports;
}

/** Checks that a schema cannot express. */
function reportProblems(report: ReportRequest, index: number): ErrorDetail[] {
  const path = `/reports/${index}`;
  const problems = 'startedAt' in report ? timeProblems(report.startedAt, `${path}/startedAt`) : [];
  if ('outputBlob' in report && report.output !== undefined) {
    problems.push({ path: `${path}/outputBlob`, problem: 'cannot be combined with output' });
  }
  return problems;
}

/** The report in the core's form. Most reports have it already. */
function toReport(report: ReportRequest): Report {
  // Lines are stored elsewhere; to the core they are a heartbeat.
  if (report.kind === 'log') return { lease: report.lease, kind: 'heartbeat' };
  if (!('startedAt' in report) || typeof report.startedAt !== 'string') return report as Report;
  return { ...report, startedAt: Date.parse(report.startedAt) };
}

function payloadOf(report: ReportRequest): unknown {
  if (report.kind === 'succeeded') return report.output;
  if (report.kind === 'failed') return report.error;
  return undefined;
}

function unknownKind(index: number): ErrorDetail {
  const kinds = Object.keys(REPORT_SCHEMAS).join(', ');
  return { path: `/reports/${index}/kind`, problem: `must be one of ${kinds}` };
}
