import { expect, test } from 'vitest';
import { placesOf, syntaxProblem } from './problem-places.ts';

const JSON_TEXT = `{
  "tasks": [
    { "name": "a", "type": "NONSENSE" },
    { "name": "b" }
  ]
}`;

const YAML_TEXT = `tasks:
  - name: a
    type: NONSENSE
    a/b: 1
  - name: b
`;

/** The texts at the places of some paths. */
function at(text: string, ...paths: string[]): string[] {
  return placesOf(text, paths).map(({ from, to }) => text.slice(from, to));
}

test('a problem is at the field that its path names, in JSON and in YAML', () => {
  expect(at(JSON_TEXT, '/tasks/0/type', '/tasks/1')).toEqual([
    '"type": "NONSENSE"',
    '{ "name": "b" }',
  ]);
  expect(at(YAML_TEXT, '/tasks/0/type', '/tasks/1', '/tasks/0/a~1b')).toEqual([
    'type: NONSENSE',
    'name: b',
    'a/b: 1',
  ]);
});

test('a field that is missing is marked at what should have it', () => {
  expect(at(JSON_TEXT, '/tasks/1/taskReferenceName')).toEqual(['{ "name": "b" }']);
  expect(at(YAML_TEXT, '/tasks/7/name', '/nothing/at/all')).toEqual(['tasks', 'tasks:']);
});

test('a large value is marked by its name, on one line', () => {
  expect(at(JSON_TEXT, '/tasks', '')).toEqual(['"tasks"', '{']);
});

test('a text that cannot be read says where', () => {
  const json = '{\n  "a": 1,\n  oops\n}';
  const yaml = 'a: [1, 2\nb: 3\n';

  const inJson = syntaxProblem(json);
  const inYaml = syntaxProblem(yaml);

  expect(json.slice(0, inJson?.from).split('\n')).toHaveLength(3);
  expect(syntaxProblem('{"tasks": [oops]}')).toMatchObject({ from: 11 });
  expect(inYaml?.message).not.toContain('\n');
  expect(inYaml?.to).toBeGreaterThan(inYaml?.from ?? Number.POSITIVE_INFINITY);
  expect([syntaxProblem(JSON_TEXT), syntaxProblem(YAML_TEXT)]).toEqual([undefined, undefined]);
});

test('an empty text, and one that ends too early, have a place', () => {
  expect(placesOf('', ['/tasks'])).toEqual([{ from: 0, to: 0 }]);
  expect(syntaxProblem('{"a":')).toMatchObject({ from: 4, to: 5 });
});
