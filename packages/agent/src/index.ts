export { Agent, type AgentOptions } from './agent.ts';
