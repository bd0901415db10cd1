import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Connection } from '@temporalio/client';
import { freePort } from '../../dev/stack/ports.ts';
import { findTemporal } from '../../dev/stack/servers/temporal-binary.ts';

export interface OwnTemporal {
  address: string;
  /** The address of the web interface. */
  uiUrl: string;
  connection: Connection;
  stop(): Promise<void>;
}

/** Starts an empty server with a database in memory and a web interface. */
export async function startOwnTemporal(): Promise<OwnTemporal> {
  const program = await findTemporal(() => undefined);
  const [port, uiPort] = await Promise.all([freePort(), freePort()]);
  const where = ['--ip', '127.0.0.1', '--port', `${port}`, '--ui-port', `${uiPort}`];
  const quiet = ['--log-level', 'error', '--ui-disable-news-fetch'];
  const child = spawn(program, ['server', 'start-dev', ...where, ...quiet], { stdio: 'ignore' });
  const address = `127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill();
    await exit;
  };
  try {
    const connection = await Connection.connect({ address, connectTimeout: '60 s' });
    const close = () => connection.close().then(stop);
    return { address, uiUrl: `http://127.0.0.1:${uiPort}`, connection, stop: close };
  } catch (error) {
    await stop();
    throw error;
  }
}
