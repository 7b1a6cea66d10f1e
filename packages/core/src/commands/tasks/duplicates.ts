import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { whyNotIdle } from '../../state/find-task.ts';
import type { ReadonlyState } from '../../state/state.ts';
import {
  CLAIM_WORDS,
  type DedupeClaim,
  EXISTING_DUPLICATE,
  REFUSE_DUPLICATE,
  REPLACE_DUPLICATE,
} from '../../task/dedupe-claim.ts';

/** The dedupe keys of a submit, one entry per task. */
export interface DedupeClaims {
  /** Eight words per task: hashes of the key and of the input. */
  readonly words: Uint32Array;
  /** 0 for a task without a key. */
  readonly windowsMs: ArrayLike<number>;
  /** What happens when a key was used with another input; absent to refuse all of them. */
  readonly onDuplicate?: ArrayLike<number>;
}

/** Tasks of a submit that already exist, by their places in the submit. */
export interface Duplicates {
  /** The first task whose key was used with a different input; -1 when there is none. */
  readonly mismatchAt: number;
  /** The entry of that key; `NO_SLOT` when the key is new in this submit. */
  readonly mismatchEntry: Slot;
  /** Tasks from earlier submits, each with the entry of its key. */
  readonly entries: ReadonlyMap<number, Slot>;
  /** Tasks that repeat an earlier task of the same submit. */
  readonly earlier: ReadonlyMap<number, number>;
  /** Those of both that replace what they repeat. */
  readonly replacing: ReadonlySet<number>;
}

const NONE: Duplicates = {
  mismatchAt: -1,
  mismatchEntry: NO_SLOT,
  entries: new Map(),
  earlier: new Map(),
  replacing: new Set(),
};

/** Looks up every key of a submit, before any of its tasks is accepted. */
export function findDuplicates(decision: Decision, claims: DedupeClaims | undefined): Duplicates {
  if (claims === undefined) return NONE;
  const search = new DuplicateSearch(decision, claims);
  const claim: DedupeClaim = { words: claims.words, start: 0, windowMs: 0 };
  for (let i = 0; i < claims.windowsMs.length; i++) {
    pointAtClaim(claim, claims, i);
    if (claim.windowMs === 0) continue;
    const entry = liveEntry(decision, claim);
    const agrees = entry === NO_SLOT ? search.lookFresh(i) : search.lookEntry(i, entry, claim);
    if (!agrees) return { ...NONE, mismatchAt: i, mismatchEntry: entry };
  }
  return { ...NONE, ...search };
}

class DuplicateSearch {
  readonly entries = new Map<number, Slot>();
  readonly earlier = new Map<number, number>();
  readonly replacing = new Set<number>();
  readonly #decision: Decision;
  readonly #claims: DedupeClaims;
  readonly #fresh: FreshKeys;
  /** The last task of this submit that gave the entry its input. */
  readonly #giverOfEntry = new Map<Slot, number>();
  /** The same for a key that is new in this submit, by the first task that has it. */
  readonly #giverOfFirst = new Map<number, number>();

  constructor(decision: Decision, claims: DedupeClaims) {
    this.#decision = decision;
    this.#claims = claims;
    this.#fresh = new FreshKeys(claims);
  }

  /** A task whose key is remembered. False when it must be refused. */
  lookEntry(place: number, entry: Slot, claim: DedupeClaim): boolean {
    const { state } = this.#decision;
    const giver = this.#giverOfEntry.get(entry);
    const isSame =
      giver === undefined
        ? state.dedupe.hasSameInput(entry, claim)
        : agree(this.#claims, giver, place, INPUT);
    const policy = this.#policyOf(place);
    const replaces = policy === REPLACE_DUPLICATE && isIdle(state, entry);
    if (!isSame && !replaces && policy !== EXISTING_DUPLICATE) return false;
    this.entries.set(place, entry);
    if (replaces) {
      this.replacing.add(place);
      this.#giverOfEntry.set(entry, place);
    }
    return true;
  }

  /** A task whose key is not remembered, but perhaps used earlier in this submit. */
  lookFresh(place: number): boolean {
    const first = this.#fresh.add(place);
    if (first < 0) return true;
    const giver = this.#giverOfFirst.get(first) ?? first;
    const policy = this.#policyOf(place);
    if (policy === REFUSE_DUPLICATE && !agree(this.#claims, giver, place, INPUT)) return false;
    this.earlier.set(place, first);
    if (policy === REPLACE_DUPLICATE) {
      this.replacing.add(place);
      this.#giverOfFirst.set(first, place);
    }
    return true;
  }

  #policyOf(place: number): number {
    return this.#claims.onDuplicate?.[place] ?? REFUSE_DUPLICATE;
  }
}

/** Whether the task of the key may be changed: in memory, not ended, and held by no worker. */
function isIdle(state: ReadonlyState, entry: Slot): boolean {
  return whyNotIdle(state, slotOfEntry(state, entry)) === undefined;
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

/** The words of the key and of the input within a claim. */
const KEY = { from: 0, to: CLAIM_WORDS / 2 };
const INPUT = { from: CLAIM_WORDS / 2, to: CLAIM_WORDS };

export function pointAtClaim(claim: DedupeClaim, claims: DedupeClaims, index: number): void {
  claim.words = claims.words;
  claim.start = index * CLAIM_WORDS;
  claim.windowMs = claims.windowsMs[index];
}

/** The entry of a key. An expired entry is forgotten here, even before its timer fires. */
export function liveEntry(decision: Decision, claim: DedupeClaim): Slot {
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

/** `NO_SLOT` when the task has left memory and only its key is remembered. */
export function slotOfEntry({ tasks, dedupe }: ReadonlyState, entry: Slot): Slot {
  return tasks.find(dedupe.task[entry] as TaskNumber);
}
