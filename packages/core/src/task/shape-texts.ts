import { type ShapeSpec, shapeText } from './shape.ts';

/** Clients send the same few shapes again and again; more than these are worked out anew. */
const KNOWN_MAX = 4096;

/**
 * The texts of shapes by what was said, so that a shape is checked and put in order once and not
 * with every task.
 */
export class ShapeTexts {
  private readonly known = new Map<string, string>();

  textOf({ resources, constraints }: ShapeSpec): string {
    if (resources === undefined && constraints === undefined) return '';
    const said = JSON.stringify([resources, constraints]);
    const known = this.known.get(said);
    if (known !== undefined) return known;
    if (this.known.size >= KNOWN_MAX) this.known.clear();
    const text = shapeText({ resources, constraints });
    this.known.set(said, text);
    return text;
  }
}
