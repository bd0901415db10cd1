import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDockerFixture } from './support/docker-fixture.ts';
import { type ShellImage, shellImage } from './support/shell-image.ts';

const fixture = createDockerFixture();
let image: ShellImage;

beforeAll(async () => {
  image = await shellImage(fixture.engine);
});
afterAll(async () => {
  await fixture.close();
  await image.remove();
});

/** From a file, so that the script does not match its own command line. */
function run(script: string) {
  return fixture.run(fixture.spec({ image: image.name }), {
    args: ['bash', '/home/agent/.frs/script'],
    files: [{ name: 'script', content: script }],
  });
}

test.each(['pkill -f node', 'pkill -9 -f bin/node', 'kill $(pidof node)', 'pkill MainThread'])(
  'outlives an agent that ends every Node by: %s',
  async (command) => {
    const script = [
      `/usr/local/bin/node -e 'fs.writeFileSync("/tmp/up", ""); setInterval(() => {}, 1e3)' &`,
      'victim=$!; until test -e /tmp/up; do sleep 0.1; done',
      command,
      'while kill -0 $victim 2> /dev/null; do sleep 0.1; done; echo "the victim is gone"',
      'ps -eo comm= | sort -u | tr "\\n" " "; exit 21',
    ].join('\n');
    const { untilExited, out } = await run(script);
    expect(await untilExited()).toMatchObject({ exitCode: 21 });
    expect(out()).toContain('the victim is gone');
    expect(out()).toContain('entry');
  },
);

test('ignores stray signals and opens no debugger', async () => {
  const script = [
    'for signal in HUP USR1 USR2; do pkill -$signal -x entry; done; sleep 0.5',
    'python3 -c \'import socket; print(socket.socket().connect_ex(("127.0.0.1", 9229)))\'; exit 22',
  ].join('\n');
  const { untilExited, out } = await run(script);
  expect(await untilExited()).toMatchObject({ exitCode: 22 });
  expect(out()).toBe('111\n');
});

test('ends when the agent leaves children behind', async () => {
  const { untilExited } = await run('sleep 600 & disown; exit 4');
  expect(await untilExited()).toMatchObject({ exitCode: 4 });
});

test('keeps input, output and network across a restart of the host', async () => {
  const script = [
    'echo up; read -r first; echo "got $first"',
    'curl -s http://127.0.0.1:8118/model/echo -d asked; echo',
    'read -r second; echo "got $second"; cat; echo end',
  ].join('; ');
  const { host, untilOut, untilExited, out } = await run(script);
  host.onOther((request, response) => void request.pipe(response));
  await untilOut('up');
  await host.down();
  await sleep(1_000);
  host.push('one');
  await host.up();
  await untilOut('asked');
  await host.down();
  await sleep(300);
  await host.up();
  host.push('two');
  host.closeInput();
  expect(await untilExited()).toMatchObject({ exitCode: 0 });
  expect(out()).toBe('up\ngot one\nasked\ngot two\nend\n');
});

test('survives a pause of the sandbox', async () => {
  const { containerId, host, untilOut, untilExited } = await run(
    'echo up; read -r line; echo $line',
  );
  await untilOut('up');
  await fixture.sandboxes.pause(containerId);
  await sleep(500);
  host.push('after the pause');
  await fixture.sandboxes.unpause(containerId);
  await untilOut('after the pause');
  expect(await untilExited()).toMatchObject({ exitCode: 0 });
});
