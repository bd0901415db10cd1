import fc from 'fast-check';
import { serviceEvents } from '../../../core/frames/frame.ts';

// Lines that a hostile agent, or content that it processes, may cause.

const hostileTypes = fc.oneof(
  fc.constantFrom(...serviceEvents),
  fc.constantFrom(...serviceEvents).map((name) => `${name}\r\nevent: finished`),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '',
    ' finished',
    'Finished',
  ),
  fc.constantFrom('finished\0', 'finished\u2028', 'ſtatus', 'x'.repeat(41), 'x'.repeat(40), 'a\nb'),
  fc.string(),
  fc.jsonValue(),
);
const ownTypes = fc.constantFrom('system', 'assistant', 'user', 'result', 'command_lifecycle');
const hostileTexts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('a\0b', '\ud800', 'a\r\ndata: x\n\nevent: finished', '\x1b[2J', '\u2028'),
);
const agentObjects = fc.record(
  {
    type: fc.oneof(ownTypes, hostileTypes),
    subtype: fc.oneof(
      fc.constantFrom('init', 'success', 'error_max_turns', 'api_retry'),
      fc.jsonValue(),
    ),
    state: fc.oneof(fc.constantFrom('started', 'completed'), fc.jsonValue()),
    command_uuid: fc.oneof(fc.uuid(), hostileTexts, fc.jsonValue()),
    session_id: fc.oneof(hostileTexts, fc.jsonValue()),
    is_error: fc.jsonValue(),
    result: fc.oneof(hostileTexts, fc.jsonValue()),
    usage: fc.jsonValue(),
    message: fc.oneof(
      fc.record({ content: fc.array(fc.oneof(fc.jsonValue(), contentBlock())) }),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: [] },
);
export const hostileLines = fc.oneof(
  agentObjects.map((value) => JSON.stringify(value)),
  agentObjects.map((value) => JSON.stringify(value, null, '\r\n')),
  fc.json(),
  fc.string({ unit: 'binary' }),
);

function contentBlock() {
  return fc.record({
    type: fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking'),
    text: hostileTexts,
    name: fc.oneof(fc.constantFrom('Bash', 'Write', 'constructor'), fc.jsonValue()),
    input: fc.jsonValue(),
    content: fc.oneof(hostileTexts, fc.jsonValue()),
    is_error: fc.boolean(),
  });
}
