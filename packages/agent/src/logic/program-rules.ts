/**
 * Why this program may not run; undefined when it may. Without a list every program may. A name
 * without a slash is found by PATH, so the list must name it the same way.
 */
export function programProblem(
  program: string,
  allowed: readonly string[] | undefined,
): string | undefined {
  if (allowed === undefined || allowed.includes(program)) return undefined;
  return `the agent runs only ${allowed.join(', ')}, not '${program}'`;
}
