/** Of tasks in one answer, as text: whoever asks for a thousand large ones gets them in parts. */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** How much more fits into one answer (L9). The first task always does, however large it is. */
export class AnswerRoom {
  private left = CHARACTERS_MAX;

  /** For what is read elsewhere, which gets what is left here. */
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

  /** Answers the same text. */
  take(json: string): string {
    this.left -= json.length;
    return json;
  }
}
