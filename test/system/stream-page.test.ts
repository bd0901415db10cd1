// docs/stream.md matches the stream.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { streamEvents } from '../../core/frames/frame.ts';
import { finishedReasonOf } from '../../core/runs/end-cause.ts';
import { openConversation } from '../support/conversation.ts';
import { expectDescribed } from '../support/expect-described.ts';
import { script } from '../support/prompts.ts';
import { asking, colour, questionsOf } from '../support/questions.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { eventsOfPage, fieldsOfPage, reasonsOfPage, wrongIn } from '../support/stream-page.ts';
import { collect } from '../support/stream-story.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 240_000);
afterAll(() => service?.stop());

it('has every event and every reason, and no other', () => {
  expect(eventsOfPage.toSorted()).toEqual([...streamEvents].toSorted());
  const ofAgent = ['system', 'assistant', 'user', 'result', 'stream', 'stream_event', 'line_cut'];
  const own = streamEvents.filter((event) => !ofAgent.includes(event));
  expect([...fieldsOfPage.keys()].toSorted()).toEqual(own.toSorted());
  const causes = [
    'completed',
    'stopped_by_api',
    'deleted_by_api',
    'container_start_failed',
  ] as const;
  const reasons = [...causes, 'stalled' as const].map(finishedReasonOf);
  expect(reasonsOfPage().toSorted()).toEqual([...reasons, 'already_ended'].toSorted());
});

it('describes every event of a chat, field by field', { timeout: 180_000 }, async () => {
  const chat = await openConversation(service, { partialMessages: true });
  await chat.say(
    script([
      { write: { path: '/workspace/in/notes.md', content: 'Hello' } },
      { shell: 'mkfifo /workspace/pipe' }, // cannot be stored
      { say: 'Written.' },
    ]),
  );
  await chat.until(({ event }) => event === 'files_skipped');
  const turn = await chat.send(asking([colour]));
  const { untilAsked, answer } = questionsOf(() => service);
  const [question] = await untilAsked(chat.runId);
  await answer(chat.runId, question?.interactionId ?? '', { 'Which colour?': 'Blue' });
  await chat.turn(turn);
  await chat.until(({ event }) => event === 'filetree');
  await endSession(service, chat);
  await chat.closed;
  const late = await collect(service.stream(chat.runId));
  expect([...chat.events, ...late].flatMap(wrongIn)).toEqual([]);
  for (const event of [...chat.events, ...late]) expectDescribed(event);
  const seen = new Set(chat.events.map(({ event }) => event));
  const unseen = streamEvents.filter((event) => !seen.has(event));
  // No host is lost, no message is withdrawn, and no line is too long.
  expect(unseen.toSorted()).toEqual([
    ...['line_cut', 'message_withdrawn', 'replay_truncated', 'state_rolled_back', 'stream'],
  ]);
  expect(JSON.parse(late.at(-1)?.data ?? '')).toMatchObject({ reason: 'already_ended' });
});
