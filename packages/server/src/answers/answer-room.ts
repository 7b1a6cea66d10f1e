/**
 * Maximum characters of tasks in one answer. A request for a thousand large tasks gets them in
 * several pages.
 */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** How much more fits into one answer (L9). The first task always fits, however large it is. */
export class AnswerRoom {
  private left = CHARACTERS_MAX;

  /** For another reader of the same answer, which gets the room that is left. */
  static of(characters: number): AnswerRoom {
    const room = new AnswerRoom();
    room.left = characters;
    return room;
  }

  get characters(): number {
    return Math.max(0, this.left);
  }

  get isFull(): boolean {
    return this.left <= 0;
  }

  /** Returns the same text. */
  take(json: string): string {
    this.left -= json.length;
    return json;
  }
}
