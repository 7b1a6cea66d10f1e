import { type ShapeSpec, shapeText } from './shape.ts';

/** Size of the cache. Clients send the same few shapes again and again. */
const KNOWN_MAX = 4096;

/**
 * Caches the texts of shapes, so that a shape is validated and normalised once and not for every
 * task.
 */
export class ShapeTexts {
  private readonly known = new Map<string, string>();

  textOf({ resources, constraints, placement }: ShapeSpec): string {
    if (resources === undefined && constraints === undefined && placement === undefined) return '';
    const said = JSON.stringify([resources, constraints, placement]);
    const known = this.known.get(said);
    if (known !== undefined) return known;
    if (this.known.size >= KNOWN_MAX) this.known.clear();
    const text = shapeText({ resources, constraints, placement });
    this.known.set(said, text);
    return text;
  }
}
