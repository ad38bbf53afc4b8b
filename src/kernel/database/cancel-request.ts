import pg from 'pg';

declare module 'pg' {
  interface ClientBase {
    /** What the server gave to cancel this connection's statements with. */
    readonly processID: number | null;
    readonly secretKey: number | null;
    readonly sslNegotiation: 'postgres' | 'direct';
  }
  interface Connection {
    connect(portOrPath: number | string, host?: string): void;
    cancel(processID: number, secretKey: number): void;
    requestSsl(): void;
  }
}

/** Time in milliseconds for the whole exchange. */
const TIMEOUT_MS = 5000;

/**
 * Asks the server to cancel the statement that runs on a connection; settles when the server has taken the request. It goes over a
 * connection of its own as the protocol has it (CancelRequest), because `pg_cancel_backend` is refused to a role that is not the
 * login, and means nothing through a pooler.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export async function cancelRequest(client: pg.Client): Promise<void> {
  const { processID, secretKey, host, port, ssl, sslNegotiation } = client;
  if (processID === null || secretKey === null) return;
  const config = { ssl, sslNegotiation };
  const connection = new pg.Connection(config);
  const timer = setTimeout(() => connection.stream.destroy(new Error('no answer to the cancel request')), TIMEOUT_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = (): void => connection.cancel(processID, secretKey);
      connection.on('connect', () => {
        if (!ssl) cancel();
        else if (sslNegotiation === 'postgres') connection.requestSsl();
      });
      connection.on('sslconnect', cancel);
      connection.on('error', reject);
      connection.on('end', resolve);
      if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
      else connection.connect(port, host);
    });
  } finally {
    clearTimeout(timer);
    connection.stream.destroy();
  }
}
