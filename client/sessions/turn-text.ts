import type { EventData } from '../generated/types.ts';
import type { RunEvent } from '../stream/events.ts';

/**
 * Reads the new text of an answer from its events. With partial messages the text arrives as
 * deltas. Of the whole block that follows, only the missing rest is new.
 */
export function createTextReader(): (event: RunEvent) => string[] {
  let sent = '';
  return (event) => {
    if (event.type === 'stream_event') {
      const text = textDelta(event.data);
      sent += text;
      return text === '' ? [] : [text];
    }
    if (event.type !== 'chat_output') return [];
    const { text } = event.data;
    const rest = text.startsWith(sent) ? text.slice(sent.length) : text;
    sent = '';
    return rest === '' ? [] : [rest];
  };
}

/** Empty for every other delta, and for those of subagents. */
function textDelta({ event, parent_tool_use_id: parent }: EventData['stream_event']): string {
  const isText = event.type === 'content_block_delta' && event.delta?.type === 'text_delta';
  return isText && parent == null ? (event.delta?.text ?? '') : '';
}
