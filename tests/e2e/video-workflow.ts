/** A step with a task. */
export const simple = (name: string, reference: string, inputParameters: object = {}) => ({
  name,
  taskReferenceName: reference,
  type: 'SIMPLE',
  inputParameters,
});

/** Probes a file, cuts it into two parts at once if it is long, and adds them up. */
export const VIDEO = {
  tasks: [
    simple('probe', 'probe', { url: '${workflow.input.url}' }),
    {
      taskReferenceName: 'by-length',
      type: 'SWITCH',
      evaluatorType: 'value-param',
      expression: 'length',
      inputParameters: { length: '${probe.output.length}' },
      decisionCases: {
        long: [
          {
            taskReferenceName: 'fork',
            type: 'FORK_JOIN',
            forkTasks: [
              [simple('cut', 'left', { part: 1 })],
              [simple('cut', 'right', { part: 2 })],
            ],
          },
          { taskReferenceName: 'join', type: 'JOIN', joinOn: ['left', 'right'] },
        ],
      },
      defaultCase: [{ taskReferenceName: 'whole', type: 'NOOP' }],
    },
    simple('sum', 'sum', { left: '${left.output.n}', right: '${right.output.n}' }),
  ],
  outputParameters: { total: '${sum.output.total}' },
};
