/** The part of V8's profile format that is used here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

/** A function call, with all its callees. */
interface Frame {
  readonly name: string;
  us: number;
  readonly calls: Map<string, Frame>;
}

const WIDTH = 1200;
const ROW = 16;
const CHARACTER = 6.2;
/** Narrower frames are left out. */
const WIDTH_MIN = 0.7;
const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/packages\/core\//, '#f59e0b'],
  [/packages\/(engine|log)\//, '#ef4444'],
  [/packages\/server\//, '#14b8a6'],
  [/packages\/(sdk|protocol)\//, '#3b82f6'],
  [/node_modules\//, '#a78bfa'],
  [/garbage collector/, '#64748b'],
];

/** How a thread spent its time, callers below callees. Idle time is left out. */
export function flameGraphOf(profile: CpuProfile, title: string): string {
  const root = framesOf(profile);
  const depth = depthOf(root);
  const height = (depth + 2) * ROW + 8;
  const parts: string[] = [];
  draw(root, { x: 0, level: 0 }, { perUs: WIDTH / root.us, height, total: root.us, parts });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="4" y="14" font-size="12">${escaped(title)}: ${Math.round(root.us / 1000)} ms</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function framesOf({ nodes, samples, timeDeltas }: CpuProfile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const selfUs = new Map<number, number>();
  samples.forEach((id, at) => {
    selfUs.set(id, (selfUs.get(id) ?? 0) + timeDeltas[at]);
  });
  const root: Frame = { name: 'all', us: 0, calls: new Map() };
  for (const [id, us] of selfUs) {
    const path: string[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = byId.get(at);
      if (node !== undefined) path.unshift(nameOf(node));
    }
    if (path.at(-1) === '(idle)') continue;
    add(root, path.slice(1), us);
  }
  return root;
}

function add(root: Frame, path: readonly string[], us: number): void {
  let frame = root;
  frame.us += us;
  for (const name of path) {
    const next = frame.calls.get(name) ?? { name, us: 0, calls: new Map() };
    frame.calls.set(name, next);
    next.us += us;
    frame = next;
  }
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const file = url.replace(/.*\/(?=packages\/|node_modules\/)/, '');
  const place = file === '' ? '' : ` ${file}:${lineNumber + 1}`;
  return `${functionName === '' ? '(anonymous)' : functionName}${place}`;
}

function depthOf({ calls }: Frame): number {
  return 1 + Math.max(0, ...[...calls.values()].map(depthOf));
}

interface Drawing {
  readonly perUs: number;
  readonly height: number;
  readonly total: number;
  readonly parts: string[];
}

function draw(frame: Frame, { x, level }: { x: number; level: number }, drawing: Drawing): void {
  const { perUs, height, total, parts } = drawing;
  const width = frame.us * perUs;
  if (width < WIDTH_MIN) return;
  const y = height - (level + 1) * ROW;
  const colour = COLOURS.find(([pattern]) => pattern.test(frame.name))?.[1] ?? '#cbd5e1';
  const label = frame.name.slice(0, Math.max(0, Math.floor((width - 4) / CHARACTER)));
  const percent = ((frame.us * 100) / total).toFixed(1);
  parts.push(
    `<g><title>${escaped(frame.name)}, ${percent} %</title>` +
      `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colour}"/>` +
      `<text x="${(x + 2).toFixed(1)}" y="${y + 11}">${escaped(label.length < 3 ? '' : label)}</text></g>`,
  );
  let at = x;
  for (const call of [...frame.calls.values()].sort((a, b) => b.us - a.us)) {
    draw(call, { x: at, level: level + 1 }, drawing);
    at += call.us * perUs;
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
