import { connect } from 'node:net';

/**
 * Whether somebody listens on a socket. The process may be invisible here (another container on the same volume), where its number
 * in the lock file says nothing; the socket is the same one all the same.
 */
export function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
    socket.setTimeout(1000, () => settle(true));
  });
}
