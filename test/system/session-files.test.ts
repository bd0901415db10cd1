import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { endSession, untilAsleep } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { statusesOf } from '../support/stream-story.ts';

let service: Service;
beforeAll(async () => {
  const env = { SESSION_IDLE_MS: '3000', SESSION_ATTENDED_IDLE_MS: '3000' };
  service = await startService({ env: { ...env, RECONCILE_EVERY_MS: '1000' } });
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 180_000 };
const text = (path: string, content: string) => ({ path, content, encoding: 'utf8' });
const inject = (chat: Conversation, files: object[]) =>
  service.call<{ path: string }[]>('POST', `/runs/${chat.runId}/files`, { body: { files } });
const download = async (chat: Conversation, path: string) =>
  (await service.call('GET', `/runs/${chat.runId}/files/${path}`)).body;
const paths = async (chat: Conversation) =>
  (await service.call<{ path: string }[]>('GET', `/runs/${chat.runId}/files`)).data.map(
    ({ path }) => path,
  );

describe('a file uploaded to a session without a sandbox', patiently, () => {
  it('is stored, listed, and present when the first turn starts', async () => {
    const chat = await openConversation(service);
    expect((await inject(chat, [text('.flowignore', 'own/')])).status).toBe(200);
    const answer = await inject(chat, [
      text('own/a.txt', 'one'),
      text('shared.txt', 'of the flow'),
    ]);
    expect(answer).toMatchObject({ status: 200, data: [{ scope: 'run' }, { scope: 'flow' }] });
    expect(await paths(chat)).toEqual(['.flowignore', 'own/a.txt', 'shared.txt']);
    expect(await download(chat, 'own/a.txt')).toBe('one');
    await chat.say(script([{ shell: 'cat own/a.txt shared.txt > seen' }]));
    expect(await download(chat, 'seen')).toBe('oneof the flow');
    await endSession(service, chat);
    expect((await inject(chat, [text('own/b.txt', '')])).status).toBe(400);
  });

  it('replaces the agent’s version after a sleep, once', async () => {
    const chat = await openConversation(service);
    await chat.say(script([{ shell: 'mkdir own; echo old > own/a.txt; echo old > b.txt' }]));
    await untilAsleep(service, chat);
    expect((await inject(chat, [text('own/c.txt', '')])).status).toBe(200);
    expect((await inject(chat, [text('own', '')])).body).toMatchObject({
      error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('body.files.0.path') },
    });
    expect((await inject(chat, [text('own/a.txt', 'new')])).status).toBe(200);
    expect(await download(chat, 'own/a.txt')).toBe('new');
    await chat.say(script([{ shell: 'cat own/a.txt b.txt > own/seen; rm own/a.txt' }]));
    expect(await download(chat, 'own/seen')).toBe('newold\n');
    await untilAsleep(service, chat);
    await chat.say(script([{ shell: 'ls own > own/left' }]));
    expect(await download(chat, 'own/left')).toBe('c.txt\nleft\nseen\n');
    await endSession(service, chat);
  });
});

describe('a working directory', patiently, () => {
  it('keeps links, empty folders, modes and times over a sleep, and lists what it cannot keep', async () => {
    const chat = await openConversation(service);
    const make = [
      'mkdir -p venv/bin empty/deeper; chmod 700 empty',
      'printf "#!/bin/sh\\necho ran\\n" > venv/tool-1; chmod 750 venv/tool-1',
      'ln -s ../tool-1 venv/bin/tool; ln -s /etc/hostname abroad; ln -s loop loop',
      'echo twice > one; ln one venv/two; touch -d "2020-02-03 04:05:06.789Z" one venv/tool-1 empty',
      'mkfifo pipe; echo s > setgid; chmod 2755 setgid; echo s > setuid; chmod 4755 setuid',
      leaveSocket,
    ];
    await chat.say(script([{ shell: make.join('; ') }]));
    const skipped = [
      { path: 'pipe', reason: 'a named pipe' },
      { path: 'setgid', reason: 'stored without its setuid, setgid or sticky bit' },
      { path: 'setuid', reason: 'stored without its setuid, setgid or sticky bit' },
      { path: 'socket', reason: 'a socket' },
    ];
    const announced = await chat.until(({ event }) => event === 'files_skipped');
    expect(byPath(JSON.parse(announced.data) as Skipped)).toEqual({ skippedCount: 4, skipped });
    await untilAsleep(service, chat);
    for (const path of [`/runs/${chat.runId}`, pathOf(chat)]) {
      const { files } = (await service.call<{ files: Skipped }>('GET', path)).data;
      expect(byPath(files)).toEqual({ state: 'partial', skippedCount: 4, skipped });
    }

    const shown =
      'stat -c "%n %F %a %.3Y" empty one venv/tool-1; stat -c %a setgid setuid; ls empty';
    const look = `venv/bin/tool; ${shown}; readlink abroad loop; test one -ef venv/two && echo same`;
    await chat.say(script([{ shell: `(${look}; ls pipe; ls socket) > seen 2>&1` }]));
    expect(String(await download(chat, 'seen')).split('\n')).toEqual([
      'ran',
      'empty directory 700 1580702706.789',
      'one regular file 644 1580702706.789',
      'venv/tool-1 regular file 750 1580702706.789',
      ...['755', '755', 'deeper', '/etc/hostname', 'loop', 'same'],
      expect.stringMatching(/^ls: .*pipe/),
      expect.stringMatching(/^ls: .*socket/),
      '',
    ]);
    const files = async () =>
      (await service.call<{ files: Skipped }>('GET', pathOf(chat))).data.files;
    await expect
      .poll(files, { timeout: 30_000 })
      .toEqual({ state: 'stored', skippedCount: 0, skipped: [] });
    const listed = await paths(chat);
    expect(listed).toEqual(expect.arrayContaining(['one', 'seen', 'venv/tool-1', 'venv/two']));
    expect(listed.filter((path) => /bin|abroad|loop|empty/.test(path))).toEqual([]);
    expect(chat.named('files_skipped')).toHaveLength(2);
    expect(chat.named('state_rolled_back')).toEqual([]);
    await endSession(service, chat);
  });
});

describe('a conversation that grows', patiently, () => {
  it('is stored about once, and continues after a sleep as it was, byte for byte', async () => {
    const chat = await openConversation(service);
    const storedBytes = async () => {
      const sum = 'select coalesce(sum(size), 0)::float8 as bytes from blobs';
      return (await service.database.pool.query<{ bytes: number }>(sum)).rows[0]?.bytes ?? 0;
    };
    const talk = `$CLAUDE_CONFIG_DIR/projects/-workspace/${chat.runId}.jsonl`;
    const grow = `(head -c 1M /dev/urandom | base64 -w 0; echo) >> ${talk}`;
    const before = await storedBytes();
    for (let turn = 0; turn < 8; turn += 1) await chat.say(script([{ shell: grow }]));
    await untilAsleep(service, chat);
    const grown = (await storedBytes()) - before;
    expect(grown / (8 * 1.34 * 1024 ** 2)).toBeGreaterThan(0.9);
    expect(grown / (8 * 1.34 * 1024 ** 2)).toBeLessThan(1.1);

    await chat.say(script([{ shell: `cp ${talk} copy` }]));
    await untilAsleep(service, chat);
    const compare = `head -c "$(stat -c %s copy)" ${talk} | cmp - copy && echo same > seen`;
    await chat.say(script([{ shell: compare }]));
    expect(await download(chat, 'seen')).toBe('same\n');
    await endSession(service, chat);
  });
});

/** A process that is killed leaves the file of its socket. */
const leaveSocket = `node -e 'require("net").createServer().listen("socket", () =>
  process.kill(process.pid, "SIGKILL"))'`;

interface Skipped {
  skipped: { path: string; reason: string }[];
}

/** In the order of the paths, because a folder is read in any order. */
const byPath = (found: Skipped): Skipped => ({
  ...found,
  skipped: [...found.skipped].sort((a, b) => (a.path < b.path ? -1 : 1)),
});

const pathOf = ({ sessionId }: Conversation): string =>
  `/flows/${service.flowId}/sessions/${sessionId}`;

describe('files of a message', patiently, () => {
  it('are present when its turn starts, and those of a later message are not yet', async () => {
    const chat = await openConversation(service);
    const look = (name: string) => script([{ shell: `sleep 1; cat own/in > own/${name}` }]);
    const first = await chat.send(look('one'), { files: [text('own/in', 'a')] });
    const second = await chat.send(look('two'), { files: [text('own/in', 'b')] });
    const third = await chat.send(look('three'), { files: [text('own/in', 'c')] });
    for (const message of [first, second, third]) {
      expect(await chat.turn(message)).toMatchObject({ exitCode: 0 });
    }
    const seen = await Promise.all(
      ['one', 'two', 'three'].map((name) => download(chat, `own/${name}`)),
    );
    expect(seen).toEqual(['a', 'b', 'c']);
    await untilAsleep(service, chat);
    await chat.turn(await chat.send(look('four'), { files: [text('own/in', 'd')] }));
    expect(await download(chat, 'own/four')).toBe('d');
    await endSession(service, chat);
  });

  it('are those of the first of two messages with the same id', async () => {
    const chat = await openConversation(service);
    const hold = script([{ shell: 'sleep 2' }]);
    await chat.send(hold);
    const look = script([{ shell: 'cat own/in > own/out' }]);
    const id = { clientMessageId: 'same' };
    const message = await chat.send(look, { ...id, files: [text('own/in', 'first')] });
    expect(await chat.send(look, { ...id, files: [text('own/in', 'second')] })).toBe(message);
    await chat.turn(message);
    expect(await download(chat, 'own/out')).toBe('first');
    await endSession(service, chat);
  });

  it('are written again with it after its sandbox is lost', async () => {
    const chat = await openConversation(service);
    const once =
      'test -e own/once || { touch own/once; rm own/in; sleep 600; }; cat own/in > own/out';
    const message = await chat.send(script([{ shell: once }]), {
      files: [text('own/in', 'again')],
    });
    await chat.until(({ event, data }) => event === 'filetree' && /once/.test(data));
    const own = (await service.sandboxes.list()).find(({ runId }) => runId === chat.runId);
    await service.sandboxes.signal(own?.containerId ?? '', 'SIGKILL');
    expect(await chat.turn(message)).toMatchObject({ exitCode: 0 });
    expect(await download(chat, 'own/out')).toBe('again');
    await endSession(service, chat);
  });

  it('that cannot be written end the turn with the reason, and the session continues', async () => {
    const chat = await openConversation(service);
    await chat.say(script([{ shell: 'mkdir -p own/folder' }]));
    const files = [text('own/folder', ''), text('own/beside', 'here')];
    const message = await chat.send(script([{ say: 'never' }]), { files });
    expect(await chat.turn(message)).toMatchObject({
      exitCode: 1,
      texts: [expect.stringMatching(/^own\/folder cannot be written/)],
    });
    expect(statusesOf(chat.events).at(-1)).toBe('error');
    await chat.say(script([{ shell: 'cat own/beside > own/out' }]));
    expect(await download(chat, 'own/out')).toBe('here');
    await endSession(service, chat);
  });

  it('are rejected before anything is stored', async () => {
    const chat = await openConversation(service);
    const path = `/flows/${service.flowId}/chat`;
    const { sessionId } = chat;
    for (const files of [
      [text('../a', '')],
      [text('a', ''), text('a', '')],
      [text('shared.txt/b', '')],
    ]) {
      const body = { message: 'x', sessionId, files };
      expect((await service.call('POST', path, { body })).status).toBe(400);
    }
    const read = await service.call('GET', `/flows/${service.flowId}/sessions/${sessionId}`);
    expect(read.data).toMatchObject({ queued: 0, status: 'sleep' });
    await endSession(service, chat);
  });
});
