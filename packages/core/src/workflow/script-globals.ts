/**
 * Runs before each script of a workflow, on a server and in tests. A script must give the same
 * result when it is evaluated again after a crash, so it has neither a clock nor random numbers.
 */
export const SCRIPT_GLOBALS = `(() => {
  const refused = (name, instead) => {
    throw new ReferenceError(\`\${name} does not exist in scripts: \${instead}\`);
  };
  Object.defineProperty(globalThis, 'Date', {
    configurable: true,
    get: () => refused('Date', 'pass the time as input, such as "\${before.endTime}"'),
  });
  Math.random = () => refused('Math.random', 'pass random numbers as input');
})();`;
