/**
 * Strict parser for the text format of Prometheus. It rejects whatever a scraper would refuse or
 * misread.
 */
export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const HEAD = /^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)$/;
const SAMPLE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;
const VALUE = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/;

export function parseMetrics(text: string): Map<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  let open = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const head = HEAD.exec(line);
    if (head !== null) {
      const [, kind, name, value] = head;
      if (kind === 'HELP') {
        if (families.has(name)) throw new Error(`the family ${name} stands twice`);
        families.set(name, { type: '', help: value, samples: [] });
        open = name;
        continue;
      }
      const family = families.get(name);
      if (name !== open || family === undefined) throw new Error(`a type without help: ${line}`);
      if (!/^(?:counter|gauge|histogram)$/.test(value)) throw new Error(`no such type: ${line}`);
      family.type = value;
      continue;
    }
    const family = families.get(open);
    if (family === undefined) throw new Error(`a sample without a family: ${line}`);
    family.samples.push(sampleOf(line, open, family.type));
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

function sampleOf(line: string, family: string, type: string): Sample {
  const match = SAMPLE.exec(line);
  if (match === null || !VALUE.test(match[3])) throw new Error(`not a sample: ${line}`);
  const [, name, labelText = '', value] = match;
  const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (!suffixes.some((suffix) => name === family + suffix)) {
    throw new Error(`a sample of another family than ${family}: ${line}`);
  }
  const labels = new Map<string, string>();
  LABEL.lastIndex = 0;
  let end = 0;
  for (let label = LABEL.exec(labelText); label !== null; label = LABEL.exec(labelText)) {
    if (labels.has(label[1])) throw new Error(`a label stands twice: ${line}`);
    labels.set(label[1], label[2]);
    end = LABEL.lastIndex;
  }
  if (end !== labelText.length) throw new Error(`not a set of labels: ${line}`);
  return { name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) };
}

function checkFamily(name: string, { type, samples }: MetricFamily): void {
  if (type === '') throw new Error(`${name} has no type`);
  const seen = new Set(samples.map((sample) => `${sample.name} ${[...sample.labels].join(';')}`));
  if (seen.size !== samples.length) throw new Error(`${name} has the same sample twice`);
  if (type === 'counter' && samples.some(({ value }) => value < 0)) {
    throw new Error(`${name} counts below zero`);
  }
  if (type === 'histogram') checkBuckets(name, samples);
}

/** Buckets are cumulative: the last one must equal the count of its series. */
function checkBuckets(name: string, samples: readonly Sample[]): void {
  let bound = Number.NEGATIVE_INFINITY;
  let total = 0;
  for (const sample of samples) {
    if (sample.name === `${name}_bucket`) {
      const text = sample.labels.get('le') ?? '';
      const le = text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
      if (!(le > bound) || sample.value < total) throw new Error(`${name} has wrong buckets`);
      bound = le;
      total = sample.value;
    } else if (sample.name === `${name}_count`) {
      if (bound !== Number.POSITIVE_INFINITY || sample.value !== total) {
        throw new Error(`${name} counts ${sample.value}, but its buckets ${total}`);
      }
      bound = Number.NEGATIVE_INFINITY;
      total = 0;
    }
  }
  if (bound !== Number.NEGATIVE_INFINITY) throw new Error(`${name} has buckets without a count`);
}
