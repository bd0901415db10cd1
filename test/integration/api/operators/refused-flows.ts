import { limits } from '../../../../core/limits.ts';

const server = (url: string) => ({ type: 'http', url });

/** Invalid flows with their errors. */
export const refusedFlows: [given: Record<string, unknown>, says: string][] = [
  [{ name: '' }, 'body.name'],
  [{ description: 'd'.repeat(2_001) }, 'body.description'],
  [{ prompt: '' }, 'body.prompt'],
  [{ prompt: 'p'.repeat(limits.text.promptMaxBytes + 1) }, 'body.prompt'],
  [{ instructions: 'i'.repeat(100_001) }, 'body.instructions'],
  [{ model: '-x' }, 'body.model'],
  [{ model: 'my-model', limits: { maxBudgetUsd: 1 } }, 'body.limits.maxBudgetUsd'],
  [{ allowedModels: ['opus', '-x'] }, 'body.allowedModels.1'],
  [{ allowedModels: Array.from({ length: 21 }, () => 'opus') }, 'body.allowedModels'],
  [{ image: '-x' }, 'body.image'],
  [{ timeoutSeconds: 86_401 }, 'body.timeoutSeconds'],
  [{ resources: { memoryBytes: 256 * 1024 ** 2 - 1 } }, 'body.resources.memoryBytes'],
  [{ resources: { memoryBytes: 1024 ** 4 + 1 } }, 'body.resources.memoryBytes'],
  [{ resources: { cpus: 256.1 } }, 'body.resources.cpus'],
  [{ network: { policy: 'any' } }, 'body.network.policy'],
  [{ network: { allowedHosts: ['https://example.test'] } }, 'body.network.allowedHosts.0'],
  [{ limits: { maxTurns: 0 } }, 'body.limits.maxTurns'],
  [{ monthlyBudgetUsd: -0.01 }, 'body.monthlyBudgetUsd'],
  [{ monthlyBudgetUsd: 1_000_000.01 }, 'body.monthlyBudgetUsd'],
  [{ env: { PATH: '/' } }, 'body.env.PATH'],
  [{ env: { A: 1 } }, 'body.env.A'],
  [{ mcpServers: { docs: { type: 'stdio', command: 'x' } } }, 'body.mcpServers.docs'],
  [{ mcpServers: { docs: server('http://mcp.example.test') } }, 'body.mcpServers.docs.url'],
  [{ disallowedTools: [''] }, 'body.disallowedTools'],
  [{ prompt: 'Go', schedule: { cron: '61 * * * *' } }, 'body.schedule.cron'],
  [{ prompt: 'Go', schedule: { cron: '* * * * *', timezone: 'Mars' } }, 'body.schedule.timezone'],
  [{ prompt: 'Go', schedule: {} }, 'body.schedule.cron'],
  [{ schedule: { cron: '* * * * *' } }, 'body.schedule: requires a prompt in the flow'],
  [{ version: 7 }, 'body.version: unknown field'],
  [{ projectId: 'other' }, 'body.projectId: unknown field'],
];
