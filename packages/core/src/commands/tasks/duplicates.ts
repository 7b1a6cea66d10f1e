import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { CLAIM_WORDS, type DedupeClaim } from '../../task/dedupe-claim.ts';

/** The dedupe keys of a submit, one entry per task. */
export interface DedupeClaims {
  /** Eight words per task: hashes of the key and of the body. */
  readonly words: Uint32Array;
  /** 0 for a task without a key. */
  readonly windowsMs: ArrayLike<number>;
}

/** Tasks of a submit that already exist, by their places in the submit. */
export interface Duplicates {
  /** The first task whose key was used with a different body; -1 when there is none. */
  readonly mismatchAt: number;
  /** Tasks from earlier submits, each with the entry of its key. */
  readonly entries: ReadonlyMap<number, Slot>;
  /** Tasks that repeat an earlier task of the same submit. */
  readonly earlier: ReadonlyMap<number, number>;
}

const NONE: Duplicates = { mismatchAt: -1, entries: new Map(), earlier: new Map() };

/** Looks up every key of a submit, before any of its tasks is accepted. */
export function findDuplicates(decision: Decision, claims: DedupeClaims | undefined): Duplicates {
  if (claims === undefined) return NONE;
  const { state } = decision;
  const entries = new Map<number, Slot>();
  const earlier = new Map<number, number>();
  const fresh = new FreshKeys(claims);
  const claim: DedupeClaim = { words: claims.words, start: 0, windowMs: 0 };
  for (let i = 0; i < claims.windowsMs.length; i++) {
    pointAtClaim(claim, claims, i);
    if (claim.windowMs === 0) continue;
    const entry = liveEntry(decision, claim);
    if (entry !== NO_SLOT) {
      if (!state.dedupe.hasSameBody(entry, claim)) return { ...NONE, mismatchAt: i };
      entries.set(i, entry);
      continue;
    }
    const before = fresh.add(i);
    if (before < 0) continue;
    if (!agree(claims, before, i, BODY)) return { ...NONE, mismatchAt: i };
    earlier.set(i, before);
  }
  return { mismatchAt: -1, entries, earlier };
}

/** The keys of a submit that are not in the table yet. */
class FreshKeys {
  private readonly claims: DedupeClaims;
  /** The newest claim for each first word of a key. */
  private readonly newest = new Map<number, number>();
  /** The previous claim with the same first word, usually of a different key. */
  private readonly previous = new Map<number, number>();

  constructor(claims: DedupeClaims) {
    this.claims = claims;
  }

  /**
   * Returns the claim that already has this key. Returns -1 when there is none and records this
   * claim.
   */
  add(index: number): number {
    const word = this.claims.words[index * CLAIM_WORDS];
    const newest = this.newest.get(word);
    for (let before = newest; before !== undefined; before = this.previous.get(before)) {
      if (agree(this.claims, before, index, KEY)) return before;
    }
    if (newest !== undefined) this.previous.set(index, newest);
    this.newest.set(word, index);
    return -1;
  }
}

/** The words of the key and of the body within a claim. */
const KEY = { from: 0, to: CLAIM_WORDS / 2 };
const BODY = { from: CLAIM_WORDS / 2, to: CLAIM_WORDS };

export function pointAtClaim(claim: DedupeClaim, claims: DedupeClaims, index: number): void {
  claim.words = claims.words;
  claim.start = index * CLAIM_WORDS;
  claim.windowMs = claims.windowsMs[index];
}

/** The entry of a key. An expired entry is forgotten here, even before its timer fires. */
function liveEntry(decision: Decision, claim: DedupeClaim): Slot {
  const { dedupe } = decision.state;
  const entry = dedupe.find(claim);
  if (entry === NO_SLOT || dedupe.expiresAt[entry] > decision.now) return entry;
  forgetKey(decision, entry);
  return NO_SLOT;
}

/** Forgets up to `most` keys whose windows have ended; returns how many. */
export function forgetKeys(decision: Decision, most: number): number {
  const { state, now } = decision;
  let forgotten = 0;
  for (; forgotten < most; forgotten++) {
    const entry = state.dedupe.firstDue(now);
    if (entry === NO_SLOT) break;
    forgetKey(decision, entry);
  }
  return forgotten;
}

function forgetKey({ state, emit, events }: Decision, entry: Slot): void {
  events.dedupeForgotten.slot = entry;
  events.dedupeForgotten.task = state.dedupe.task[entry] as TaskNumber;
  emit(events.dedupeForgotten);
}

function agree(
  { words }: DedupeClaims,
  one: number,
  other: number,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  for (let i = from; i < to; i++) {
    if (words[one * CLAIM_WORDS + i] !== words[other * CLAIM_WORDS + i]) return false;
  }
  return true;
}
