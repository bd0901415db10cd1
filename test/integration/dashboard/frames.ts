// Frames of a run, in the format of the agent.

import type { Interaction } from '../../../core/agent/interaction.ts';
import type { Frame } from '../../../core/frames/frame.ts';

export const chat = (event: Frame['event'], data: object): Frame => ({
  event,
  channel: 'chat',
  data: JSON.stringify(data),
});

interface Speaker {
  /** The tool call of the subagent that speaks. */
  parent?: string;
}

const message = (type: 'assistant' | 'user', content: object[], { parent }: Speaker) => ({
  type,
  message: { id: `msg-${Math.random()}`, role: type, content },
  parent_tool_use_id: parent ?? null,
});

export const says = (text: string, speaker: Speaker = {}): Frame =>
  chat('assistant', message('assistant', [{ type: 'text', text }], speaker));

export const thinks = (thinking: string): Frame =>
  chat('assistant', message('assistant', [{ type: 'thinking', thinking }], {}));

export const calls = (id: string, name: string, input: object, speaker: Speaker = {}): Frame =>
  chat('assistant', message('assistant', [{ type: 'tool_use', id, name, input }], speaker));

interface ToolResult extends Speaker {
  isError?: boolean;
  /** What the agent tells besides the text, such as a patch. */
  details?: object;
}

export const returns = (id: string, text: string, result: ToolResult = {}): Frame => {
  const { isError = false, details, ...speaker } = result;
  const block = { type: 'tool_result', tool_use_id: id, content: text, is_error: isError };
  const data = message('user', [block], speaker);
  return chat('user', details === undefined ? data : { ...data, tool_use_result: details });
};

/** A part of the text that the agent is writing. */
export const textDelta = (text: string): string =>
  JSON.stringify({
    type: 'stream_event',
    event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    parent_tool_use_id: null,
  });

export const output = (text: string): Frame => ({
  event: 'output',
  channel: 'output',
  data: JSON.stringify({ data: text }),
});

/** A conversation that has every kind of entry. */
export const story: Frame[] = [
  chat('system', { type: 'system', subtype: 'init', model: 'claude-sonnet', tools: [] }),
  chat('user_message', { messageId: 'm1', text: 'Write hello.md and greet the reader in it.' }),
  thinks('The folder may have a style guide. I look before I write.'),
  says('I look at what is there first.'),
  calls('t1', 'Bash', { command: 'ls -la', description: 'List the files' }),
  returns(
    't1',
    'total 8\n-rw-r--r-- 1 agent agent 812 README.md\n-rw-r--r-- 1 agent agent 96 app.ts',
  ),
  output('● Bash ls -la\n  ⎿ total 8\n'),
  calls('t2', 'Edit', {
    file_path: '/workspace/src/app.ts',
    old_string: 'const name = "you";',
    new_string: 'const name = "reader";\nconst greeting = "Hello";',
  }),
  returns('t2', 'The file has been updated.', {
    details: {
      structuredPatch: [
        {
          oldStart: 3,
          newStart: 3,
          lines: [
            ' import { greet } from "./greet.ts";',
            '-const name = "you";',
            '+const name = "reader";',
            '+const greeting = "Hello";',
            ' greet(name);',
          ],
        },
      ],
    },
  }),
  calls('t3', 'Task', { description: 'Review the change', prompt: 'Review app.ts' }),
  calls('t4', 'Read', { file_path: '/workspace/src/app.ts' }, { parent: 't3' }),
  returns('t4', 'const name = "reader";', { parent: 't3' }),
  says('The greeting is never used.', { parent: 't3' }),
  returns('t3', 'One remark: `greeting` is never used.'),
  calls('t5', 'Bash', { command: 'npm test' }),
  returns('t5', 'npm error Missing script: "test"', { isError: true }),
  says(
    [
      '## Done',
      '',
      'I wrote **hello.md**. There is no test script, so I ran none.',
      '',
      '- `app.ts` greets the *reader*',
      '- see [the guide](https://example.com/guide)',
      '',
      '| file | lines |',
      '|---|---|',
      '| hello.md | 9 |',
    ].join('\n'),
  ),
];

const questionInput = {
  questions: [
    {
      question: 'Which colour should the heading have?',
      header: 'Colour',
      multiSelect: false,
      options: [
        { label: 'Blue', description: 'As the sky' },
        { label: 'Red', description: 'As a warning' },
      ],
    },
  ],
};

export const question: Interaction = {
  interactionId: 'q-1',
  toolName: 'AskUserQuestion',
  input: JSON.stringify(questionInput),
};
