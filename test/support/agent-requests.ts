import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../dev/lib/folders.ts';

interface AgentRequest {
  scenario: string;
  /** With its query. */
  path: string;
  /** The `anthropic-beta` header. */
  betas: string;
  headers: string[];
  body: Record<string, unknown>;
}

/** The requests of the agent CLI to the model API, see test/fixtures/agent-requests. */
export const agentRequests: readonly AgentRequest[] = readFileSync(
  join(repository, 'test/fixtures/agent-requests/requests.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as AgentRequest); // recorded in this form
