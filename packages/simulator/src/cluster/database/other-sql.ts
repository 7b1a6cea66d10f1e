import { changed, NOTHING, rowsOf, type Understand } from './statement.ts';

const SETTINGS = { fsync: 'on', full_page_writes: 'on', server_version_num: '150000' };

const settings: Understand = (text) => {
  if (text.startsWith('SELECT set_config(')) return { kind: 'setting', plan: () => NOTHING };
  if (!text.startsWith('SELECT name, setting FROM pg_settings')) return undefined;
  const rows = Object.entries(SETTINGS).map(([name, setting]) => ({ name, setting }));
  return { kind: 'settings', plan: () => rowsOf(rows) };
};

const schema: Understand = (text) => {
  if (text !== 'SELECT schema FROM cluster') return undefined;
  return { kind: 'schema', plan: () => rowsOf([{ schema: 1 }]) };
};

const alive: Understand = (text, [names]) => {
  if (!text.includes('FROM pg_stat_activity')) return undefined;
  return {
    kind: 'alive',
    plan: (_, { sessions }) => {
      const found = sessions.filter((name) => (names as readonly string[]).includes(name));
      return rowsOf(found.map((name) => ({ name })));
    },
  };
};

const readNote: Understand = (text, [name]) => {
  if (!text.startsWith('SELECT content FROM note')) return undefined;
  return {
    kind: 'read a note',
    plan: ({ notes }) => {
      const content = notes.get(name as string);
      return rowsOf(content === undefined ? [] : [{ content }]);
    },
  };
};

const writeNote: Understand = (text, [name, content]) => {
  if (!text.startsWith('INSERT INTO note VALUES')) return undefined;
  return {
    kind: 'write a note',
    isWrite: true,
    plan: ({ notes }) => changed(1, () => notes.set(name as string, content as Buffer)),
  };
};

const readMark: Understand = (text) => {
  if (!/^SELECT position::float8 AS position, .* FROM mark/.test(text)) return undefined;
  return { kind: 'read the mark', plan: ({ mark }) => rowsOf(mark === undefined ? [] : [mark]) };
};

/** Whether the mark may go back is a condition in the text. */
const writeMark: Understand = (text, values) => {
  if (!/ INSERT INTO mark AS known VALUES/.test(text)) return undefined;
  const [, position, at, rebuildTo] = values as number[];
  const isCompared = text.includes('WHERE known.position <= excluded.position');
  return {
    kind: `mark ${position}`,
    isWrite: true,
    locks: [{ name: 'mark' }],
    plan: (tables) => {
      const isBehind = isCompared && (tables.mark?.position ?? 0) > position;
      return changed(isBehind ? 0 : 1, () => {
        tables.mark = { position, at, rebuildTo };
      });
    },
  };
};

const limitMark: Understand = (text, [position]) => {
  if (text !== 'UPDATE mark SET position = least(position, $1)') return undefined;
  return {
    kind: `limit the mark to ${position}`,
    isWrite: true,
    locks: [{ name: 'mark' }],
    plan: (tables) => {
      const { mark } = tables;
      if (mark === undefined) return NOTHING;
      const limited = { ...mark, position: Math.min(mark.position, position as number) };
      return changed(1, () => {
        tables.mark = limited;
      });
    },
  };
};

export const OTHER_SQL: readonly Understand[] = [
  ...[settings, schema, alive, readNote, writeNote, readMark, writeMark, limitMark],
];
