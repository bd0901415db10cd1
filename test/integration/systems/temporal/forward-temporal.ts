import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { stackEnv } from '../../../support/stack-env.ts';

export interface TemporalForward {
  close(): Promise<void>;
}

/** Forwards a port to the server until it is closed, which also cuts all connections. */
export async function forwardTemporal(port: number): Promise<TemporalForward> {
  const [host = '', serverPort] = stackEnv.temporalAddress.split(':');
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(serverPort), host);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
