export { Agent } from './agent.ts';
export type { AgentOptions, ContainerOptions } from './agent-options.ts';
export { engineAnswers } from './engine-answers.ts';
