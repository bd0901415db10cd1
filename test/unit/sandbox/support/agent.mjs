// An agent that its arguments control: `<mode> <exit code>`. It prints the length and hash of every
// input line. `report` prints its environment and exits; `ignore-sigterm` exits by SIGKILL only.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const [mode = 'echo', code = '0'] = process.argv.slice(2);

if (mode === 'report') {
  const folder = `${process.env.HOME}/.frs`;
  const files = readdirSync(folder).map((name) => ({
    name,
    mode: (statSync(`${folder}/${name}`).mode & 0o777).toString(8),
    content: readFileSync(`${folder}/${name}`, 'utf8'),
  }));
  print({ cwd: process.cwd(), env: process.env, files, argv: process.argv.slice(2) });
  process.exit(Number(code));
}
if (mode === 'ignore-sigterm') {
  process.on('SIGTERM', () => print({ received: 'SIGTERM' }));
  setInterval(() => {}, 1_000);
}
if (mode === 'family') {
  const child = spawn(
    process.execPath,
    [
      '-e',
      'process.on("SIGTERM",()=>{console.log("{\\"child\\":\\"SIGTERM\\"}");process.exit(0)});setInterval(()=>{},1e3);console.log("{\\"child\\":\\"up\\"}")',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  // The child may end before this process handles its signal.
  const childEnd = new Promise((resolve) => child.once('exit', resolve));
  process.on('SIGTERM', () => childEnd.then(() => process.exit(143)));
}
if (mode === 'kill-self') process.kill(process.pid, 'SIGKILL');

print({ up: process.pid });
let rest = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    const line = rest.subarray(0, end);
    rest = rest.subarray(end + 1);
    print({ bytes: line.length, sha256: createHash('sha256').update(line).digest('hex') });
  }
});
process.stdin.on('end', () => {
  print({ end: true, rest: rest.length });
  if (mode !== 'ignore-sigterm') process.exit(Number(code));
});
