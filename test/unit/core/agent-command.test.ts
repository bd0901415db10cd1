import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AgentPlan, agentCommand } from '../../../core/agent/agent-command.ts';
import { agentSettings } from '../../../core/agent/agent-settings.ts';
import { emptyRunConfig, type McpServer, type RunConfig } from '../../../core/runs/run-config.ts';

const conversation = { id: '5b0d3f5e-4a51-4d0e-9a53-000000000001', resume: false };
const plainFlow: AgentPlan['flow'] = {
  instructions: null,
  disallowedTools: [],
  networkPolicy: 'open',
  env: {},
  mcpServers: {},
  startsRuns: false,
};
const plainRun: AgentPlan['run'] = {
  partialMessages: false,
  model: null,
  maxTurns: null,
  outputSchema: null,
  answerTokensMax: null,
};
const server: McpServer = { type: 'http', url: 'https://mcp.example/x' };

function plan(change: {
  flow?: Partial<AgentPlan['flow']>;
  config?: Partial<RunConfig>;
  run?: Partial<AgentPlan['run']>;
}): AgentPlan {
  return {
    flow: { ...plainFlow, ...change.flow },
    config: { ...emptyRunConfig, ...change.config },
    run: { ...plainRun, ...change.run },
    conversation,
  };
}

const always = [
  ...['-p', '--verbose', '--output-format', 'stream-json', '--input-format', 'stream-json'],
  ...['--replay-user-messages', '--dangerously-skip-permissions'],
  ...['--permission-prompt-tool', 'stdio'],
  ...['--setting-sources', 'user', '--strict-mcp-config'],
  ...['--settings', agentSettings()],
];
const withheld = ['--disallowedTools', 'EnterPlanMode', 'ExitPlanMode'];

describe('the arguments', () => {
  test('of a minimal run are the fixed ones and its conversation', () => {
    expect(agentCommand(plan({}))).toEqual({
      args: [...always, ...withheld, '--session-id', conversation.id],
      env: {},
      files: [],
    });
  });

  test('contain every option in a fixed order', () => {
    const command = agentCommand({
      flow: { ...plainFlow, instructions: 'Be brief.', mcpServers: { a: server } },
      config: {
        ...emptyRunConfig,
        mcpServers: { b: server },
        disallowedTools: ['Bash(git:*)', 'WebFetch'],
      },
      run: {
        partialMessages: true,
        model: 'opus',
        maxTurns: 3,
        outputSchema: '{"type":"object"}',
        answerTokensMax: 3_125,
      },
      conversation: { ...conversation, resume: true },
    });
    expect(command.args).toEqual([
      ...always,
      ...['--mcp-config', '/home/agent/.frs/flow-mcp.json', '/home/agent/.frs/run-mcp.json'],
      ...['--append-system-prompt-file', '/home/agent/.frs/system-prompt.md'],
      ...['--system-prompt-snapshot', 'off'],
      ...[...withheld, 'Bash(git:*)', 'WebFetch'],
      '--include-partial-messages',
      ...['--model', 'opus', '--max-turns', '3'],
      ...['--json-schema', '{"type":"object"}'],
      ...['--resume', conversation.id],
    ]);
    expect(command.env).toMatchObject({ CLAUDE_CODE_MAX_OUTPUT_TOKENS: '3125' });
  });

  test('reject values that could be read as flags', () => {
    for (const disallowedTools of [['--mcp-config'], ['Bash', '-p']]) {
      expect(() => agentCommand(plan({ config: { disallowedTools } }))).toThrow(
        'begins with a dash',
      );
    }
    expect(() => agentCommand(plan({ run: { model: '--settings' } }))).toThrow(
      'begins with a dash',
    );
  });

  test('pass each tool as one argument', () => {
    const tool = fc.string({ minLength: 1 }).filter((name) => !name.startsWith('-'));
    fc.assert(
      fc.property(fc.uniqueArray(tool, { minLength: 1 }), (disallowedTools) => {
        const { args } = agentCommand(plan({ config: { disallowedTools } }));
        expect(args).toEqual([
          ...always,
          ...withheld,
          ...disallowedTools,
          ...['--session-id', conversation.id],
        ]);
      }),
    );
  });

  test('disallow the tools of flow and run, each once', () => {
    const { args } = agentCommand(
      plan({
        flow: { disallowedTools: ['Bash', 'Read'] },
        config: { disallowedTools: ['Read', 'Write'] },
      }),
    );
    expect(args.slice(always.length, -2)).toEqual([...withheld, 'Bash', 'Read', 'Write']);
  });
});

test.each(['none', 'limited'] as const)(
  'the policy %s withholds the search of the web, which servers of the model API run',
  (networkPolicy) => {
    const { args } = agentCommand(plan({ flow: { networkPolicy, disallowedTools: ['Read'] } }));
    expect(args.slice(always.length, -2)).toEqual([...withheld, 'WebSearch', 'Read']);
  },
);

test('the settings pin every address of the model, and run nothing of the agent’s own', () => {
  const settings = JSON.parse(agentSettings()) as Record<string, unknown>; // an object, see above
  expect(settings).toMatchObject({
    env: {
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:8118/model',
      ANTHROPIC_API_KEY: 'sandbox',
      NO_PROXY: '127.0.0.1,127.0.0.0/8,localhost,::1',
      CLAUDE_CODE_USE_BEDROCK: '',
    },
    apiKeyHelper: '',
    disableAllHooks: true,
    disableSkillShellExecution: true,
  });
});

describe('MCP servers', () => {
  const flow = { mcpServers: { a: server, b: server } };
  const own = { ...server, url: 'https://own.example' };

  test('are merged, with precedence for the run’s', () => {
    const { files } = agentCommand(plan({ flow, config: { mcpServers: { b: own } } }));
    expect(files).toEqual([
      { name: 'flow-mcp.json', content: JSON.stringify({ mcpServers: flow.mcpServers }) },
      { name: 'run-mcp.json', content: JSON.stringify({ mcpServers: { b: own } }) },
    ]);
  });

  test('are only the run’s in replace mode, even if it has none', () => {
    const config = { mcpMode: 'replace', mcpServers: { b: own } } as const;
    expect(agentCommand(plan({ flow, config })).files.map(({ name }) => name)).toEqual([
      'run-mcp.json',
    ]);
    expect(agentCommand(plan({ flow, config: { mcpMode: 'replace' } })).files).toEqual([]);
  });
});

describe('the system prompt', () => {
  const promptOf = (change: Parameters<typeof plan>[0]) =>
    agentCommand(plan(change)).files.find(({ name }) => name === 'system-prompt.md')?.content;

  test('is the flow’s, followed by the run’s', () => {
    const config = { appendSystemPrompt: 'Answer in verse.' };
    expect(promptOf({ flow: { instructions: 'Be brief.' }, config })).toBe(
      'Be brief.\n\nAnswer in verse.',
    );
    expect(promptOf({ config })).toBe('Answer in verse.');
    expect(promptOf({ config: { appendSystemPrompt: '' } })).toBeUndefined();
  });

  test('is in a file, not in the process list', () => {
    const { args } = agentCommand(plan({ flow: { instructions: 'canary' } }));
    expect(args.join()).not.toContain('canary');
  });
});

describe('the environment', () => {
  test('is the flow’s, then the run’s, then its context', () => {
    const { env } = agentCommand(
      plan({
        flow: { env: { A: 'flow', B: 'flow' } },
        config: { env: { B: 'run' }, context: { 'user-id': '7', TEAM: 'x' } },
      }),
    );
    expect(env).toEqual({ A: 'flow', B: 'run', FLOW_CTX_USER_ID: '7', FLOW_CTX_TEAM: 'x' });
  });
});
