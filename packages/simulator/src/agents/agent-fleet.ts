import type { TaskRequest } from '@sluice/protocol';
import { drawTask } from '../clients/draw-task.ts';
import { type ClientParts, SimClient } from '../clients/sim-client.ts';
import type { RandomStream } from '../kernel/random.ts';
import type { AgentPlan } from '../plan/world-plan.ts';
import type { WorkerParts } from '../workers/sim-worker.ts';
import { AGENT_TYPES } from './agent-life.ts';
import { SimAgent } from './sim-agent.ts';

const RESOURCES = [{}, { cpu: 0.5 }, { cpu: 1, memoryMb: 300 }, { gpu: 1 }, { diskMb: 400 }];

/** The agents of a world, who gives them work, and what happens to their hosts. */
export class AgentFleet {
  readonly agents: readonly SimAgent[];
  private readonly client: SimClient;
  private isHealed = false;

  constructor(plan: AgentPlan, workers: WorkerParts, clients: ClientParts) {
    const { simulation } = workers;
    this.agents = Array.from({ length: plan.agents }, (_, index) => {
      return new SimAgent(workers, `agent${index + 1}`);
    });
    const { requestEveryMs } = plan;
    const parts = { ...clients, everyMs: requestEveryMs, draw: drawProgram };
    this.client = new SimClient(parts, 'agents-client');
    for (const fault of plan.faults) {
      simulation.after(fault.at, () => {
        if (this.isHealed) return;
        const agent = this.agents[fault.who % this.agents.length];
        const { machine } = agent;
        machine.useDisk();
        if (fault.kind === 'killed') agent.kill(false, fault.forMs);
        else if (fault.kind === 'rebooted') agent.reboot(fault.forMs);
        else {
          machine.isEngineUp = false;
          simulation.after(fault.forMs, () => {
            machine.isEngineUp = true;
          });
        }
      });
    }
  }

  heal(): void {
    this.isHealed = true;
    this.client.stop();
  }

  /** After everything was healed and had time to end. */
  look(): void {
    for (const agent of this.agents) agent.look();
  }
}

function drawProgram(random: RandomStream, n: number): TaskRequest {
  const { constraints: _, ...task } = drawTask(random, n);
  return { ...task, type: random.pick(AGENT_TYPES), resources: random.pick(RESOURCES) };
}
