// The offline model in a separate process. Bare containers without a network reach it by a unix
// socket; the service reaches it by TCP.

import { connect, createServer } from 'node:net';
import { startOfflineModel } from '../../offline-model/server.ts';
import { endWithParent, readSetting, reportToParent } from '../limits/child.ts';

endWithParent();
const { socketPath } = readSetting() as { socketPath: string }; // bench-service.ts starts this program
const { url } = await startOfflineModel();
const server = createServer((socket) => {
  const upstream = connect(Number(new URL(url).port), '127.0.0.1');
  for (const end of [socket, upstream]) end.setNoDelay().on('error', () => undefined);
  socket.pipe(upstream).pipe(socket);
});
server.listen(socketPath, () => reportToParent({ url }));
