import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type SecureContextOptions } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allow, deny, hostNames, pathsIn } from '../../../deploy/hosts/allowlist.ts';
import { createBundle, type PrimaryMachine } from '../../../deploy/hosts/bundle.ts';
import { createHostCertificate, keyPairIn } from '../../../deploy/hosts/certificates.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { runCommand } from '../../../dev/lib/run-command.ts';

const program = join(repository, 'deploy/hosts/prepare.ts');

let secrets: string;

beforeEach(() => {
  secrets = mkdtempSync(join(tmpdir(), 'flowrun-hosts-'));
  for (const folder of ['hosts', 'postgres', 'redis', 'entrance', 'service']) {
    mkdirSync(join(secrets, folder));
  }
  writeFileSync(join(secrets, 'postgres/flowrun'), 'one\n');
  writeFileSync(join(secrets, 'redis/password'), 'two\n');
  writeFileSync(join(secrets, 'service/encryption-key'), 'three\n');
});
afterEach(() => rmSync(secrets, { recursive: true }));

test('accepts a host while it is on the allowlist, but no other certificate of that name', async () => {
  await prepare('localhost');
  const paths = pathsIn(secrets);
  const host = await joined('worker-2');
  const stranger = keyPairIn(join(secrets, 'service'));
  await createHostCertificate(stranger, 'worker-2');
  expect(hostNames(paths)).toEqual(['worker-2']);
  expect(await comesIn(pairOf(host))).toBe(true);
  expect(await comesIn(read(stranger))).toBe(false);
  expect(await comesIn({})).toBe(false);
  deny(paths, 'worker-2');
  expect(hostNames(paths)).toEqual([]);
  expect(await comesIn(pairOf(host))).toBe(false);
});

test('accepts no certificate signed by a host or by the server’s certificate', async () => {
  await prepare('localhost');
  const host = await joined('worker-2');
  const paths = pathsIn(secrets);
  for (const signer of [pairFiles(host), keyPairIn(paths.serverFolder)]) {
    expect(await comesIn(read(signedBy(signer)))).toBe(false);
  }
});

test('keeps the authority and the hosts when the server’s name changes', async () => {
  await prepare('localhost');
  await joined('worker-2');
  const before = shown();
  await prepare('localhost');
  expect(shown()).toEqual(before);
  await prepare('10.0.0.5');
  const after = shown();
  expect(after).toMatchObject({ authority: before.authority, list: before.list });
  expect(after.server).not.toBe(before.server);
  const text = execFileSync('openssl', ['x509', '-noout', '-ext', 'subjectAltName'], {
    input: after.server,
    encoding: 'utf8',
  });
  expect(text).toContain('IP Address:10.0.0.5');
});

test('rejects an invalid name and creates nothing', async () => {
  await expect(prepare('10.0.0.5:5432')).rejects.toThrow('FLOWRUN_HOSTS_NAME is wrong');
  expect(hostNames(pathsIn(secrets))).toEqual([]);
  expect(() => shown()).toThrow();
});

const prepare = (name: string): Promise<string> =>
  runCommand(process.execPath, [program, secrets], {
    env: { ...process.env, FLOWRUN_HOSTS_NAME: name },
  });

/** The folder with the unpacked bundle. */
async function joined(name: string): Promise<string> {
  const first: PrimaryMachine = {
    secrets,
    name: 'localhost',
    ports: { postgres: 5432, redis: 6380, temporal: 7243 },
    project: 'flowrun',
    publicUrl: 'http://127.0.0.1:8080',
  };
  const bundle = await createBundle(name, first);
  allow(pathsIn(secrets), name, bundle.certificate);
  bundle.dispose();
  const folder = join(secrets, name);
  mkdirSync(folder);
  execFileSync('tar', ['-x', '-C', folder], { input: bundle.archive });
  return join(folder, 'host');
}

const pairFiles = (host: string) => ({
  key: join(host, 'host.key'),
  certificate: join(host, 'host.crt'),
});

const pairOf = (host: string): SecureContextOptions => read(pairFiles(host));

const read = (pair: { key: string; certificate: string }): SecureContextOptions => ({
  key: readFileSync(pair.key),
  cert: readFileSync(pair.certificate),
});

/** A certificate that an issued key has signed, although it may not sign. */
function signedBy(signer: { key: string; certificate: string }) {
  const forged = keyPairIn(join(secrets, 'service'));
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
  const files = ['-keyout', forged.key, '-out', forged.certificate, '-config', '/dev/null'];
  const by = ['-CA', signer.certificate, '-CAkey', signer.key, '-subj', '/CN=worker-3'];
  execFileSync('openssl', ['req', '-x509', ...made, ...files, ...by], { stdio: 'ignore' });
  const chain = [forged.certificate, signer.certificate].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(forged.certificate, chain.join(''));
  return forged;
}

/** Whether a TLS server with the files of Redis accepts a client that trusts the authority. */
async function comesIn(client: SecureContextOptions): Promise<boolean> {
  const folder = join(secrets, 'redis');
  const server = createServer({
    key: readFileSync(join(folder, 'server.key')),
    cert: readFileSync(join(folder, 'server.crt')),
    ca: readFileSync(join(folder, 'hosts.crt')),
    requestCert: true,
  });
  server.on('secureConnection', (socket) => socket.end('welcome'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // listening on TCP
  const ca = readFileSync(pathsIn(secrets).authority.certificate);
  const socket = connect({ ...client, ca, port, host: '127.0.0.1', servername: 'localhost' });
  socket.on('error', () => undefined);
  const received = once(socket, 'data').then(
    ([data]) => String(data) === 'welcome',
    () => false,
  );
  const closed = once(socket, 'close').then(() => false);
  const isIn = await Promise.race([received, closed]);
  socket.destroy();
  server.close();
  return isIn;
}

function shown() {
  const text = (file: string) => readFileSync(join(secrets, file), 'utf8');
  return {
    authority: text('hosts/authority/crt'),
    server: text('redis/server.crt'),
    list: text('postgres/hosts.crt'),
  };
}
